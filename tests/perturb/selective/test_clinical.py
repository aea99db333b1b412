"""What the record of a patient or of a court names is left where it is nobody's."""

from __future__ import annotations

import pytest

from perturb import get_mechanism
from perturb.release import Span
from perturb.selective.clinical import drop_impersonal, is_of_patient
from tests.tables import bundled_table

TABLE = bundled_table()
# So that a text is the record of a patient.
RECORD = (
    "\nPaciente sin alergias. Antecedentes: HTA. Exploración: TA 130/80 mmHg. "
    "Diagnóstico: neumonía. Tratamiento: Omeprazol 20 mg."
)


def leave(text: str, part: str, type_: str) -> list[str]:
    """Return what is left of a finding."""
    start = text.index(part)
    left = drop_impersonal(text, [Span(start, start + len(part), type_)])
    return [text[span.start : span.end] for span in left]


def find(text: str, profile: str) -> list[str]:
    spans = get_mechanism("selective", TABLE, profile=profile).spans(text) or ()
    return [text[span.start : span.end] for span in spans]


def test_the_record_of_these_tests_is_one() -> None:
    assert is_of_patient(RECORD)


EPONYMS = (
    ("antecedentes de enfermedad de Crohn", "Crohn"),
    ("signo de Babinski ausente", "Babinski"),
    ("maniobra de Lasègue positiva a 40º", "Lasègue"),
    ("Romberg negativo", "Romberg"),
    ("Blumberg y Rovsing positivos", "Blumberg"),
    ("Escala de Glasgow de 15", "Glasgow"),
    ("Glasgow 15. Pupilas isocóricas", "Glasgow"),
    ("Apgar 9/10, peso 3.120 g", "Apgar"),
    ("Barthel 35, MELD 14", "Barthel"),
    ("Gleason 7 (3+4)", "Gleason"),
    ("estadio 3 de Hoehn y Yahr", "Hoehn y Yahr"),
    ("atteint de la maladie de Basedow", "Basedow"),
    ("le syndrome de Raynaud", "Raynaud"),
    ("maladie de Dupuytren bilatérale", "Dupuytren"),
    ("stade IV de Kellgren et Lawrence", "Kellgren et Lawrence"),
    ("Morbus Bechterew", "Bechterew"),
    ("Hashimoto-Thyreoiditis", "Hashimoto"),
    ("Clark-Level IV", "Clark-Level"),
    ("morbo di Parkinson", "Parkinson"),
    ("doença de Chagas", "Chagas"),
    ("s/p Nissen fundoplication", "Nissen"),
    ("Graves' disease", "Graves' disease"),
    ("a Foley catheter was placed", "Foley"),
    ("catéter tipo Hickman", "Hickman"),
    ("técnica de Lichtenstein", "Lichtenstein"),
)


@pytest.mark.parametrize(("text", "part"), EPONYMS)
def test_an_eponym_beside_its_thing_is_nobodys(text: str, part: str) -> None:
    for type_ in ("PERSON", "LOCATION", "ORGANIZATION", "DEMOGRAPHIC"):
        assert leave(text, part, type_) == []
        assert leave(text + RECORD, part, type_) == []


# Patients, doctors and neighbours who are called as a disease, a sign or a scale.
BEARERS = (
    ("Sr. Babinski acude a consulta", "Babinski"),
    ("Dr. Crohn, Digestivo", "Crohn"),
    ("Mme Basedow est sortie hier", "Basedow"),
    ("Herr Hashimoto ist entlassen", "Hashimoto"),
    ("Ms. Graves was seen", "Graves"),
    ("Patient Foley is in bed 4", "Foley"),
    ("Pt Hamilton 24, alert", "Hamilton"),
    ("Norton 9, Wilson 12", "Norton"),
    ("Thomas Clark III signed", "Clark"),
    ("Wilson negativo, García positivo", "Wilson"),
    ("Turner: 54 years, roofer", "Turner"),
    ("Jackson, 63, retired", "Jackson"),
    ("Anna Weber positiv getestet", "Weber"),
    ("Marcus Bell 45 años", "Bell"),
    ("la señora Blumberg negó fiebre", "Blumberg"),
    ("Lynch refiere dolor", "Lynch"),
    ("handover from Parker", "Parker"),
    ("given per Murphy at 0400", "Murphy"),
    ("M. Parkinson, né en 1950", "Parkinson"),
    ("Glasgow, G12 8QQ", "Glasgow"),
    ("vive en Glasgow desde 2009", "Glasgow"),
    ("Romberg acude con su hijo", "Romberg"),
    ("Nombre: Babinski.", "Babinski"),
    ("the body of Wilson was found", "Wilson"),
    ("el cuerpo de Parker apareció", "Parker"),
    ("Murphy test positive on Monday", "Murphy"),
    ("la operación de Hunter salió bien", "Hunter"),
    ("la maladie de Vincent", "Vincent"),
    ("la enfermedad de Thomas empeora", "Thomas"),
    ("Art 52, roofer", "Art"),
    ("représentée par Barreau", "Barreau"),
    ("Ms Court appeared", "Court"),
    ("Sala firma el acta", "Sala"),
    ("dixit Corte", "Corte"),
)


@pytest.mark.parametrize(("text", "part"), BEARERS)
@pytest.mark.parametrize("around", ["", RECORD])
def test_who_bears_an_eponyms_name_stays_a_finding(text: str, part: str, around: str) -> None:
    assert leave(text + around, part, "PERSON") == [part]


def test_a_patients_name_is_hidden_where_a_disease_has_it_too() -> None:
    found = find("Dr. Ana Wilson: enfermedad de Wilson." + RECORD, "people")
    assert [part for part in found if "Wilson" in part] == ["Ana Wilson", "Wilson"]


MEASURES = (
    ("enalapril 20 mg cada 12 h", "20 mg"),
    ("Hb 12,9 g/dl", "12,9 g/dl"),
    ("TA 165/95 mmHg", "165/95 mmHg"),
    ("FC 98 lpm", "98 lpm"),
    ("leucocitos 7.400/mm3", "7.400/mm3"),
    ("creatinina 2,1 mg/dl", "2,1 mg/dl"),
    ("Gammaglobulina 2 g/kg", "2 g/kg"),
    ("Na 128 mEq/l", "128 mEq/l"),
    ("NT-proBNP 6 820 ng/L", "6 820 ng/L"),
    ("Citarabina 200 mg/m2", "200 mg/m2"),
)
# Weights, heights, births, sums and addresses.
OWN = (
    ("pesa 83 kg", "83 kg", "QUANTITY"),
    ("mide 183 cm", "183 cm", "QUANTITY"),
    ("peso al nacer 2.840 g", "2.840 g", "QUANTITY"),
    ("durante 60 días", "60 días", "DURATION"),
    ("gana 1 498,50 € al mes", "1 498,50 €", "MONEY"),
    ("a 12 km de Lugo", "12 km", "QUANTITY"),
    ("portal 2, 3º C", "3º C", "STREET_ADDRESS"),
    ("habitación 512-B", "512-B", "ID"),
    ("NHC 4820917", "4820917", "ID"),
    ("el 12/05 a las 08:15", "12/05", "DATE_TIME"),
    ("Fischerstr. 5 l. u. r.", "5", "LOCATION"),
    ("tiene 66 años", "66 años", "AGE"),
    ("tel. 612 88 40 19", "612 88 40 19", "PHONE_NUMBER"),
    ("CP 20018", "20018", "LOCATION"),
)


@pytest.mark.parametrize(("text", "part"), MEASURES)
def test_doses_and_values_of_a_laboratory_are_left(text: str, part: str) -> None:
    for type_ in ("QUANTITY", "NUMBER", "DEMOGRAPHIC", "ID"):
        assert leave(text + RECORD, part, type_) == []


@pytest.mark.parametrize(("text", "part", "type_"), OWN)
def test_what_measures_a_person_stays_a_finding(text: str, part: str, type_: str) -> None:
    assert leave(text + RECORD, part, type_) == [part]


PHRASES = (
    ("Servicio de Cardiología. Hospital Clínico", "Servicio de Cardiología. Hospital Clínico"),
    ("Koldo Aranburu NºCol: 20 20 61137", "Koldo Aranburu NºCol"),
    ("Localidad/ Provincia: Logroño. La Rioja", "Localidad/ Provincia: Logroño. La Rioja"),
    ("COUR D'APPEL DE DOUAI", "COUR D'APPEL DE DOUAI"),
    ("TRIBUNAL DE GRANDE INSTANCE DE PARIS", "TRIBUNAL DE GRANDE INSTANCE DE PARIS"),
    ("TRIBUNALE ORDINARIO DI VERCELLI", "TRIBUNALE ORDINARIO DI VERCELLI"),
    ("Me Jonathan Attal, avocat", "Me Jonathan Attal"),
    ("Dott.ssa Fiammetta Sarti", "Dott.ssa Fiammetta Sarti"),
    ("Le docteur Wattrelos, expert", "Le docteur Wattrelos"),
)
LEFT = (
    "Hospital Clínico",
    "Koldo Aranburu",
    "Logroño. La Rioja",
    "DOUAI",
    "PARIS",
    "VERCELLI",
    "Jonathan Attal",
    "Fiammetta Sarti",
    "Wattrelos",
)


@pytest.mark.parametrize(("phrase", "left"), [*zip(PHRASES, LEFT, strict=True)])
def test_only_the_name_of_a_finding_is_left(phrase: tuple[str, str], left: str) -> None:
    text, part = phrase
    assert leave(text + RECORD, part, "ORGANIZATION") == [left]


STATUTES = (
    ("au visa de l'article L. 1142-1 du code de la santé publique", "L. 1142-1"),
    ("l'article 1240 du code civil", "article 1240 du code civil"),
    ("la loi n° 85-677 du 5 juillet 1985", "n° 85-677 du 5 juillet 1985"),
    ("conforme a la Ley 35/2015, de 22 de septiembre", "35/2015, de 22 de septiembre"),
    ("al artículo 147.1 del Código Penal", "147.1"),
    ("gemäß § 91a ZPO", "91a ZPO"),
    ("Nach §§ 631, 634 Nr. 2 BGB", "631, 634"),
    ("ex art. 2043 c.c.", "2043 c.c"),
    ("Legge 104/92", "104/92"),
    ("pelo art. 143.º do Código Penal", "143"),
)
ROLES = (
    ("Me Guedj, avocat au barreau de Lille", "avocat au barreau"),
    ("avocat à la Cour", "avocat"),
    ("l'expert judiciaire a conclu", "expert judiciaire"),
    ("avocate générale", "avocate générale"),
    ("expert près la cour d'appel", "expert"),
)
WORKS = (
    ("M. X, avocat, né en 1960", "avocat"),
    ("il est expert-comptable", "expert-comptable"),
    ("engagée comme avocate", "avocate"),
)


@pytest.mark.parametrize(("text", "part"), ROLES)
def test_who_acts_in_a_trial_is_no_party(text: str, part: str) -> None:
    assert leave(text, part, "DEMOGRAPHIC") == []


@pytest.mark.parametrize(("text", "part"), WORKS)
def test_what_a_party_works_as_stays_a_finding(text: str, part: str) -> None:
    assert leave(text, part, "DEMOGRAPHIC") == [part]


CASES = (
    ("RG n° 18/03921", "18/03921", "CASE_NUMBER"),
    ("jugement du 5 juillet 1985", "5 juillet 1985", "DATE_TIME"),
    ("arrêt rendu le 30 juin 2015", "30 juin 2015", "DATE_TIME"),
    ("Diligencias Previas 1283/2016", "1283/2016", "CASE_NUMBER"),
    ("Az. 4 O 1290/15", "4 O 1290/15", "CASE_NUMBER"),
    ("pourvoi n° K 15-25.250", "K 15-25.250", "CASE_NUMBER"),
    ("née le 22 septembre 1985", "22 septembre 1985", "DATE_TIME"),
    ("12 rue de la Loi 35", "12 rue de la Loi 35", "STREET_ADDRESS"),
    ("M. Delattre, demeurant à Liévin", "Delattre", "PERSON"),
    ("Mme Cour, greffière", "Mme Cour", "ADDRESS"),
    ("procédure 85-677", "85-677", "ID"),
)


@pytest.mark.parametrize(("text", "part"), STATUTES)
def test_a_statute_is_public(text: str, part: str) -> None:
    for type_ in ("DATE_TIME", "NUMBER", "CASE_NUMBER", "OTHER_NAME", "ID"):
        assert leave(text, part, type_) == []


@pytest.mark.parametrize(("text", "part", "type_"), CASES)
def test_a_case_and_its_dates_are_somebodys(text: str, part: str, type_: str) -> None:
    assert leave(text, part, type_) == [part]


MEDICINE = (
    ("refiere cefalea y vómitos", "vómitos", "DEMOGRAPHIC"),
    ("carcinoma ductal infiltrante", "carcinoma ductal infiltrante", "DEMOGRAPHIC"),
    ("con Aztreonam y Vancomicina", "Aztreonam y Vancomicina", "ORGANIZATION"),
    ("Bisoprolol cada mañana", "Bisoprolol", "LOCATION"),
    ("una polyarthrite rhumatoïde", "polyarthrite rhumatoïde", "DEMOGRAPHIC"),
    ("Alergia a Betalactámicos", "Alergia", "PERSON"),
    ("Toma Adiro 100", "Adiro 100", "DEMOGRAPHIC"),
    ("con diabetes mellitus", "diabetes mellitus", "DEMOGRAPHIC"),
)
PEOPLE = (
    ("Varón de 66 años, albañil jubilado", "albañil jubilado", "DEMOGRAPHIC"),
    ("de origen marroquí", "origen marroquí", "DEMOGRAPHIC"),
    ("su hija Dolores", "Dolores", "PERSON"),
    ("María Dolores, 20 mg", "María Dolores", "PERSON"),
    ("Paz refiere tos", "Paz", "PERSON"),
    ("señora Ozolītis", "Ozolītis", "PERSON"),
    ("Nikos Politis", "Politis", "PERSON"),
    ("vive en Oklahoma", "Oklahoma", "LOCATION"),
    ("taxista de Fuenlabrada", "taxista", "DEMOGRAPHIC"),
    ("el Hospital de Valme", "Hospital de Valme", "ORGANIZATION"),
    ("Izquierdo, Pedro", "Izquierdo", "PERSON"),
    ("firma la Dra. Cuello", "Cuello", "LOCATION"),
    ("Sr. Herz", "Herz", "PERSON"),
    ("Mrs Gold", "Gold", "ORGANIZATION"),
    ("Hueso y Mano, procuradores", "Hueso y Mano", "ORGANIZATION"),
    ("vive en Calcio", "Calcio", "LOCATION"),
    ("Carolina ingresa hoy", "Carolina", "PERSON"),
    ("trabaja en Bayer", "Bayer", "ORGANIZATION"),
    ("la enfermera Puy Lecumberri", "Puy Lecumberri", "PERSON"),
    ("María Rosa Mayo", "Mayo", "PERSON"),
)


@pytest.mark.parametrize(("text", "part", "type_"), MEDICINE)
def test_words_of_medicine_are_left_in_the_record_of_a_patient(
    text: str, part: str, type_: str
) -> None:
    assert leave(text + RECORD, part, type_) == []


@pytest.mark.parametrize(("text", "part", "type_"), MEDICINE)
def test_elsewhere_an_illness_is_somebodys(text: str, part: str, type_: str) -> None:
    assert not is_of_patient(text)
    assert leave(text, part, type_) == [part]


@pytest.mark.parametrize(("text", "part", "type_"), PEOPLE)
def test_people_and_what_they_do_stay_findings(text: str, part: str, type_: str) -> None:
    assert leave(text + RECORD, part, type_) == [part]


# Of other types than a person's, too: the detector may take a name for anything.
MISREAD = (
    ("Paciente: Richter.\nEdad", "Richter", "TITLE"),
    ("Apellidos: Juge.\nNombre", "Juge", "TITLE"),
    ("Dra. Alzheimer firma", "Alzheimer", "DEMOGRAPHIC"),
    ("el hijo de Alzheimer llamó", "Alzheimer", "DEMOGRAPHIC"),
    ("Sr. Cuello refiere", "Cuello", "DEMOGRAPHIC"),
    ("Avisar a Mano mañana", "Mano", "QUANTITY"),
    ("Dra. Interna", "Interna", "ORGANIZATION"),
    ("Dr. Nuclear", "Nuclear", "DEMOGRAPHIC"),
    ("Mme Coronaria sort", "Coronaria", "LOCATION"),
    ("Glasgow 45 años, fumador", "Glasgow", "LOCATION"),
    ("Quick 45 años", "Quick", "LOCATION"),
    ("le docteur Cushing a signé", "Cushing", "LOCATION"),
)


@pytest.mark.parametrize(("text", "part", "type_"), MISREAD)
def test_a_name_that_is_misread_stays_a_finding(text: str, part: str, type_: str) -> None:
    assert leave(text + RECORD, part, type_) == [part]


# What is told, in six languages, among everyday words.
EVERYDAY = (
    ("verser la somme de 700 euros", "somme de 700 euros", "QUANTITY", ["700 euros"]),
    ("dans le village de Thury", "village de Thury", "LOCATION", ["Thury"]),
    ("elle a été brisée", "brisée", "DATE_TIME", []),
    ("rund 180 Leute", "rund 180", "QUANTITY", ["180"]),
    ("seit dem 1. April 2006", "dem 1. April 2006", "DATE_TIME", ["1. April 2006"]),
    ("hat ihn weder beleidigt", "weder", "DATE_TIME", []),
    ("gestito nel 2015", "nel 2015", "DATE_TIME", ["2015"]),
    ("lavorare in gruppo", "gruppo", "LOCATION", []),
    ("Domani sono a Torino", "Domani", "PERSON", []),
    ("he llamado diez veces", "diez veces", "QUANTITY", ["diez"]),
    ("tenho a fatura da loja", "fatura", "PERSON", []),
    ("een 55-jarige timmerman", "een 55-jarige timmerman", "DEMOGRAPHIC", ["55-jarige timmerman"]),
    ("schimmel in de badkamer", "de badkamer", "LOCATION", []),
    ("EXPÉRIENCE PROFESSIONNELLE", "EXPÉRIENCE PROFESSIONNELLE", "PERSON", []),
    ("Head of Supply Chain", "Head of Supply Chain", "ORGANIZATION", []),
)
# Somebody, or something of somebody, in the same places.
NEIGHBOURS = (
    ("Stark kam gestern", "Stark", "PERSON"),
    ("Bello ha scritto", "Bello", "PERSON"),
    ("la signora Forte", "Forte", "PERSON"),
    ("wohnt in Lieblos", "Lieblos", "LOCATION"),
    ("Maria van der Berg", "Maria van der Berg", "PERSON"),
    ("Alicia de la Cruz", "Alicia de la Cruz", "PERSON"),
    ("García y Vega", "García y Vega", "PERSON"),
    ("infirmière à Lille", "infirmière", "DEMOGRAPHIC"),
    ("Clinique du Parc", "Clinique du Parc", "ORGANIZATION"),
    ("de nationalité belge", "belge", "DEMOGRAPHIC"),
    (
        "Office Manager Solid Rock Health Care",
        "Office Manager Solid Rock Health Care",
        "ORGANIZATION",
    ),
    ("write to ora.ai", "ora.ai", "ORGANIZATION"),
    ("Rose sagte ab", "Rose", "PERSON"),
    ("MARIA BELLO", "MARIA BELLO", "PERSON"),
)


@pytest.mark.parametrize(("text", "part", "type_", "left"), EVERYDAY)
def test_everyday_words_of_a_finding_are_left(
    text: str, part: str, type_: str, left: list[str]
) -> None:
    assert leave(text, part, type_) == left


@pytest.mark.parametrize(("text", "part", "type_"), NEIGHBOURS)
def test_who_is_called_like_an_everyday_word_stays_a_finding(
    text: str, part: str, type_: str
) -> None:
    assert leave(text, part, type_) == [part]


# Everyday words of six languages, of which none is in the rules as a surname that must be kept,
# and surnames that are.
SURNAMES = (
    *("Hond", "Colère", "Personne", "Fiducia", "Salute", "Dinheiro", "Wichtig", "Klager"),
    *("Court", "Camino", "Broek", "Junge", "Klar", "Stark", "Bello", "Droit"),
)
TITLES = (
    *("Mr.", "Mrs.", "Ms.", "Dr.", "Prof.", "Sgt.", "Capt.", "Rev.", "Lt.", "St.", "Smith vs."),
    *("Sig.", "Sig.ra", "Sr.", "Sra.", "Frau", "Herrn", "Mme", "M.", "Señora", "Signor", "Dhr."),
    *("Monsieur", "Anna", "Peter"),
)
# In each the word stands in a text of another language at least once.
TOLD = (
    "Please call {} about the rent.",
    "{} hat mich gestern nicht gesehen, und er ist krank.",
    "Hier, {} est venu chez moi et il a tout cassé.",
    "{} me debe 300 euros y no quiere pagar.",
    "{} mi ha detto che non paga.",
    "{} zegt dat hij ziek is.",
)
ALONE = (
    "{} told me yesterday that she is ill.",
    "The rent is late. {} owes me 300 dollars.",
    "- {} owes 300",
    "Rent ({} pays late)",
    "Ask Weber/{} today",
    "Er war da. {} kam gestern und hat mich nicht gesehen.",
    "Il est parti. {} demeure à Lille avec sa femme.",
    "Witness: {} saw it.",
)
# In small letters, behind a given name, a title or what somebody is to the writer.
SMALL = (
    ("my neighbour tom {} hit me", "tom {}"),
    ("my neighbour {} hit me", "{}"),
    ("mein nachbar peter {} hat mich gesehen", "peter {}"),
    ("mein nachbar {} hat mich gesehen", "{}"),
    ("und dann hat frau {} mich gesehen", "{}"),
    ("mon voisin jean {} est parti", "jean {}"),
    ("mon voisin {} est parti", "{}"),
    ("mi vecino {} me pega y no quiere pagar", "{}"),
)


@pytest.mark.parametrize("surname", SURNAMES)
@pytest.mark.parametrize("type_", ["LOCATION", "ORGANIZATION", "PERSON"])
def test_an_everyday_word_behind_a_title_is_somebodys_name(surname: str, type_: str) -> None:
    for title in TITLES:
        for told in TOLD:
            text = told.format(f"{title} {surname}")
            assert leave(text, surname, type_) == [surname], text
            assert any(surname in part for part in leave(text, f"{title} {surname}", type_)), text


@pytest.mark.parametrize("surname", SURNAMES)
@pytest.mark.parametrize("told", ALONE)
def test_an_everyday_word_that_opens_a_sentence_may_be_a_name(surname: str, told: str) -> None:
    assert leave(told.format(surname), surname, "PERSON") == [surname]


@pytest.mark.parametrize("surname", SURNAMES)
@pytest.mark.parametrize(("told", "part"), SMALL)
def test_an_everyday_word_in_small_letters_may_be_a_name(
    surname: str, told: str, part: str
) -> None:
    small = surname.lower()
    if small not in ("klager", "droit"):  # of a trial, and nobody's in small letters
        assert leave(told.format(small), part.format(small), "PERSON") == [part.format(small)]


def test_words_of_grammar_open_a_sentence_of_their_own_language_only() -> None:
    for text, word in (
        ("Domani sono da lei.", "Domani"),
        ("Er kam nicht. Gestern war ich da.", "Gestern"),
    ):
        assert leave(text, word, "PERSON") == []
    for text, word in (("Domani said so.", "Domani"), ("Gestern m'a vu chez elle.", "Gestern")):
        assert leave(text, word, "PERSON") == [word]


def test_of_a_trial_only_who_stands_behind_an_article_is_nobody() -> None:
    assert leave("Der Kläger trägt vor", "Kläger", "PERSON") == []
    assert leave("Gegen das Urteil", "Urteil", "ORGANIZATION") == []
    for text, part in (
        ("Anna Klager", "Anna Klager"),
        ("Anna Klager", "Klager"),
        ("Frau Klager", "Klager"),
        ("Frau Kläger", "Kläger"),
        ("Herrn Urteil", "Urteil"),
        ("Klager told me", "Klager"),
        ("Urteil kam gestern", "Urteil"),
    ):
        assert leave(text, part, "PERSON") == [part]


def test_a_letter_that_names_a_plaintiff_keeps_its_titles() -> None:
    for text in ("Az.: 12. Frau Lagarrigue", "Dr. Weber sagt, der Kläger ist da. Frau Lagarrigue"):
        assert leave(text, "Frau", "TITLE") == ["Frau"]


def test_initials_behind_a_name_are_no_degree() -> None:
    assert leave("Wei MA", "Wei MA", "PERSON") == ["Wei MA"]
    assert leave("Holzapfel, JP", "Holzapfel, JP", "PERSON") == ["Holzapfel, JP"]
    assert leave("Wiebke Heronby RVN", "Wiebke Heronby RVN", "PERSON") == ["Wiebke Heronby"]


def test_a_post_alone_or_beside_a_surname_may_be_a_name() -> None:
    assert leave("Claims Department", "Claims Department", "ORGANIZATION") == []
    for part in ("Leiter", "Responsable", "Hoofd", "Leiter Stark", "Partner Becker"):
        assert leave(f"{part} told me", part, "ORGANIZATION") == [part]


def test_articles_alone_are_no_finding() -> None:
    assert leave("Consumo de alcohol", "de", "DEMOGRAPHIC") == []
    assert leave("señora De", "De", "PERSON") == ["De"]


DOCTORS = (
    "à 1 mois. Copie au Dr Maryse Puyol",
    "a 14 de junho com o Dr. Rui",
    "80, Hausarzt Dr. Kern",
)
DRIVES = ("12 Palm Dr", "400 Old Mill Dr.", "7 Rue du Dr Roux", "31 Avenida del Dr. Fleming")


@pytest.mark.parametrize("text", DOCTORS)
def test_a_number_before_a_doctor_is_no_drive(text: str) -> None:
    part = text[text.index(next(filter(str.isdigit, text))) : text.index("Dr") + 2]
    assert leave(text, part, "STREET_ADDRESS") == []


@pytest.mark.parametrize("text", DRIVES)
def test_a_drive_stays_a_finding(text: str) -> None:
    assert leave(f"at {text}, please", text, "STREET_ADDRESS") == [text]


def test_a_title_alone_names_nobody_in_a_record() -> None:
    assert leave("Mme Lagarrigue" + RECORD, "Mme", "TITLE") == []
    assert leave("N° RG 18/03921. Mme Lagarrigue", "Mme", "TITLE") == []
    assert leave("Mme Lagarrigue", "Mme", "TITLE") == ["Mme"]


@pytest.mark.parametrize(
    "type_", ["EMAIL_ADDRESS", "PHONE_NUMBER", "NATIONAL_ID", "PASSWORD", "ACCOUNT_NUMBER", "AGE"]
)
def test_values_with_a_form_of_their_own_are_never_touched(type_: str) -> None:
    assert leave("enfermedad de Crohn, 20 mg", "Crohn, 20 mg", type_) == ["Crohn, 20 mg"]


def test_types_that_the_operator_named_are_never_touched() -> None:
    span = Span(9, 17, "PERSON")
    assert drop_impersonal("signo de Babinski", [span], own={"PERSON"}) == (span,)
