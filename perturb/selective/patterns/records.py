"""Find what the records of patients and of courts say of people, by the words that such records
are written in: numbers of histories, insurances and proceedings, who wrote, signed and examined,
where somebody lives, months without a day, and what somebody of an age works as.

A word alone is no evidence where programs and firms use it as well (`SIP`, `CRM`): it counts in
capitals, before five figures.
"""

from __future__ import annotations

import re

from perturb.selective.patterns.given import is_given, is_ordinary_word
from perturb.selective.patterns.numbers import WORDS
from perturb.selective.patterns.persons import CAPITALS
from perturb.selective.patterns.settings import is_placeholder
from perturb.selective.patterns.shape import (
    all_clues,
    any_listed,
    any_of,
    any_string,
    digits,
    least_digits,
    shape,
    words_of,
)

__all__ = ["RECORDS"]

# -- numbers --------------------------------------------------------------------------------------
# That nothing else is called.
_OF_PATIENTS = """
    nhc n.h.c nass nss nº_ss n.º_ss n°_ss n°_de_sécurité_sociale dossier_médical finess csn nuss
    nuhsa nºcol cipa historia_clínica historia_clinica tarjeta_sanitaria ficha_clínica
    ficha_clinica afiliación_imss colegiado colegiada rpps nosologico cartella_clinica cart._clin
    prontuário prontuario cartão_sus utente_sns fallnummer fall-nr pat-id patienten-id
    aufnahmenummer aok-nr krankenkassen-nr unit_no acct mrn nip_patient numéro_ipp
    cartão_de_cidadão cédula_profissional cédula_profesional ced._prof
"""
_COUNTED = """
    historia biopsia episodio episode expediente utente processo registro accesso istologico
    anatomopatologico anatomopatológico domanda sinistro patente esame exame exam specimen
    accession hospital col mec dossier clia cédula biopsie prélèvement
"""
_CAPITAL = "SIP CIP NIP IPP IEP NDA BI OM CRM RUN NUP HC CLIA RGPS NAF BSNR COREN"
_NUMBERED = r"(?:[Nn]\.?[º°oª]\.?|[Nn][rn]?\.|[Nn]o\.?|#|№)"
_VALUE = (
    r"(?P<part>(?:[A-Za-z]{1,4}[ -])?[A-Z]{0,12}\d[\dA-Z]{0,20}"
    r"(?:[ ./-](?=[A-Z]{0,3}\d)[\dA-Z]{1,20}){0,6}(?:-[A-Z])?)(?![\w%€$£]|[.,]\d|[-/]\w)"
)
_VERB = r"(?: (?:es|é|è|est|is|ist)(?: [oel]{1,2})?)?"
_UNIT = re.compile(
    r" ?(?:mg|ml|µg|mm|cm|kg|UI|h|días|meses|años|ans|jours|mois|anni|giorni)(?!\w)"
)


def _is_counted(text: str) -> bool:
    """Tell if a value has five figures, and is neither a date nor a round number."""
    plain = "".join(map(str, digits(text)))
    dated = re.fullmatch(r"\d{1,2}[-/. ]\d{1,2}[-/. ](?:19|20)?\d\d", text)
    return len(plain) > 4 and not dated and not is_placeholder(text)


def _is_of_patient(text: str) -> bool:
    return len(digits(text)) > 2 and not is_placeholder(text)


def _locate_number(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of a number after which no unit stands."""
    return None if _UNIT.match(match.string, match.end("part")) else match.span("part")


_ROLL = (
    r"(?:N[°º] ?(?:de )?(?:RG|MINUTE|minute|Portalis|PORTALIS|R[ôo]le)(?: N[°º] ?RG)?"
    r"|(?:R\.?G\.?|Rôle|Pourvoi|Arrêt|PV|Procédure|Parquet|Minute)(?: N[°º] ?RG)? [Nn][°º]?"
    r"|[Jj]ugement \([Nn][°º]|(?:[Rr]equête|[Jj]ugement|arrêt|ordonnance"
    r"|répertoire général sous le) n[°º]"
    r"|R\. ?G\. ?(?:n\.|N\.)|R\.G\.N\.R\. ?n?\.?|[Pp]roc(?:esso|\.)(?: n\.?[º°])?|[Pp]rocedimiento"
    r"|(?:Diligencias [Pp]revias|Autos|Rollo|Recurso|Sumario|Procedimiento [Oo]rdinario"
    r"|Juicio [Vv]erbal)"
    r"(?: (?:n[.º°]{1,2}|núm\.))?|In re:?|Case No\.?:?)"
)
# -- people ---------------------------------------------------------------------------------------
_ROLE_LIST = """
    cirujano cirujana anestesista ayudante prescripteur chirurgien médico médica médico_tratante
    médico_responsable remitido_por firmado_por firmado firmado_electrónicamente_por fdo
    responsable_clínico facultativo solicitante opérateur anesthésiste aide rédigé_par
    médecin_traitant operatore aiuto anest patologo strumentista relator relatora requisitante
    attending surgeon assistant ordered_by dictated_by electronically_signed_by pathologist
    radiologist anesthesiologist operateur assistenz instrumentierende anästhesie paciente paziente
    patient patiente doente utente apellidos_y_nombre apellidos pat paz hausarzt zuweiser einweiser
    médico_assistente medico medica_curante medico_curante praticien prévenu prévenue
    médico_de_família juíza juiz concerne inviante presidente segretario lesionado denunciante
    perito procurador letrado magistrada magistrado
"""
_TITLE = (
    r"(?:(?:Dr|Dra|Dres|Drs|D|Dña|Don|Doña|Sr|Sra|Prof|Pr|Mme|M|Mlle|Me|Dott|dott|dr|Sig|Mr|Mrs"
    r"|Ms|Herrn?"
    r"|Hr|Fr|Frau|OA|OÄ|Fr|Docteur|Doctora?)(?:\.?ssa|\.?ra|\.?ª)?\.? ){0,3}"
)
_PART = rf"[{CAPITALS}][^\W\d_º°]{{1,30}}(?:[-’'][{CAPITALS}]?[^\W\d_]{{1,30}}){{0,2}}"
_LITTLE = r"(?:de la|de las|de los|del|de|di|da|do|dos|das|y|i|e|von der|von|van|la|el|al|ben|bin)"
_NAME = (
    rf"(?P<part>(?:[{CAPITALS}]\.[ -]?){{0,3}}{_PART}"
    rf"(?:,? (?:{_LITTLE} )?(?!N[º°]|[A-Z]{{2,3}}(?![^\W\d_])){_PART}){{0,5}})(?![\w@])"
)
_NOBODY = words_of(
    """
    varón mujer hombre masculino femenino niño niña lactante adolescente sexo edad urgencias
    medicina cirugía servicio hospital consulta general interna familia patiente masculin féminin
    homme femme né née sexe weiblich männlich maschio femmina uomo donna homem female male man
    woman unknown ninguno ninguna none null nome nombre name age datos fecha estable consciente
    refiere presenta acude ingresa derecho izquierdo alta remitido pediatra tipo grupo dolor
    tratamiento diagnóstico anesthesia allgemein spinal raquídea locale générale sedation
    transferred admitted
"""
)


_INITIAL = re.compile(r"[^\W\d_a-zß-ÿ]\.")


def _names_somebody(text: str) -> bool:
    """Tell if words may be a name: two, or one that is given, none of them what records say."""
    words = re.findall(r"[^\W\d_]{2,40}", text)
    plain = [word.lower() for word in words]
    if not words or any(word in _NOBODY for word in plain):
        return False
    if all(map(is_ordinary_word, plain)):
        return len(words) > 1 and any(map(is_given, words))
    return len(words) > 1 or is_given(words[0]) or _INITIAL.match(text) is not None


def _is_named(text: str) -> bool:
    """Tell if a part has words, none of which says that nobody and no place is named."""
    words = re.findall(r"[^\W\d_]{2,40}", text)
    return bool(words) and not any(word.lower() in _NOBODY for word in words)


# -- places ---------------------------------------------------------------------------------------
_LIVES_LIST = """
    domicilio domiciliado_en domiciliada_en domicilio_en residente_en vecino_de vecina_de
    residente_in residente_na residente_no domiciliato_in domiciliata_in demeurant demeurant_à
    domicilié domiciliée domicilié_au domiciliée_au dirección domicile adresse endereço morada
    mora_na wohnhaft wohnhaft_in reside_en bydliště bydlisko bytem bydlím bydlí bytom zamieszkały
    zamieszkała zamieszkałej zamieszkałego
"""
_ROAD = (
    rf"(?:[{CAPITALS}a-z][^\W\d_]{{0,20}}(?:\.|/)?[ ]?)"
    rf"(?:(?:{_LITTLE}|[{CAPITALS}][^\W\d_]{{0,24}}\.?|[ld]['’][{CAPITALS}][^\W\d_]{{1,24}}|los"
    rf"|las|dei|des|du)[ ]){{0,6}}"
    rf"(?:[{CAPITALS}][^\W\d_]{{1,24}}|\d{{1,3}}),?"
)
_HOUSE = (
    r" (?:(?:n\.?[º°o]?\.?|núm\.|km\.?|casa|lote|bloque|portal|#) ?)?\d{1,4}(?:[.,]\d)?"
    r"(?:[ ]?[-–/] ?\d{1,4})?(?:[a-zA-Z](?!\w)|/[A-Za-z](?!\w)| bis)?"
)
_MORE = (
    r"(?:(?:, | - |-| )(?:\d{1,2}\.?[º°ª][ ]?[A-Za-z]{0,5}(?!\w)|(?:piso|pta|puerta|esc|planta"
    r"|bajo"
    r"|bloque|portal"
    r"|depto\.|int\.|apto|apt|appt|Bât\.|scala|interno|casa|lote|paraje|Stock|Wohnung) ?"
    rf"[{CAPITALS}\d]?[\w]{{0,12}}|izda\.?|dcha\.?|s/n)){{0,3}}"
)

# -- dates ----------------------------------------------------------------------------------------
_MONTH_LIST = """
    enero febrero marzo abril mayo junio julio agosto septiembre setiembre octubre noviembre
    diciembre janvier février avril juin juillet août septembre octobre novembre décembre gennaio
    febbraio aprile maggio giugno luglio settembre ottobre dicembre janeiro fevereiro março maio
    junho julho setembro outubro novembro dezembro januar februar märz april juni juli august
    september oktober november dezember january february june july october december
"""
_FEASTS = """
    navidad nochevieja semana_santa noël pâques natale pasqua ferragosto natal páscoa carnaval
    ostern weihnachten pfingsten silvester thanksgiving halloween easter christmas ramadán ramadan
"""
_MONTHS = any_of(_MONTH_LIST)

# -- what people do -------------------------------------------------------------------------------
_ENDS = (
    r"(?:ñ[ei]l|[ei]ro|era|eira|dora?|tora?|ista|[óo]log[oa]|ari[oa]|[áa]ri[oa]|ante|ente|enta|iz"
    r"|till[ei]r"
    r"|eur|euse|i[eè]re?|iste|cien(?:ne)?|trice|aire|ateur|ière|aio|aia|iere|iera|tore|ese"
    r"|icultor|ado)"
)
_NO_WORK = words_of(
    """
    demeurant domicilié domiciliée détenu détenue libre représenté représentée comparant comparante
    ayant assisté assistée résidant nationalité nacionalidad residente domiciliado domiciliada sans
    actuellement alors ledit laquelle lequel ressortissant ressortissante prévenu prévenue fils
    fille hijo hija figlio figlia filho filha marié mariée divorcée veuf veuve épouse époux fumador
    fumadora exfumador exfumadora bebedor bebedora exbebedor portador portadora consumidor
    consumidora soltero soltera viudo viuda casado casada divorciado separado separada lactante
    gestante adolescente paciente embarazada diestro zurdo ingresado intervenido remitido derivado
    afectado tratado diagnosticado obeso independiente dependiente institucionalizado trasladado
    traído fumeur fumeuse droitier droitière gaucher gauchère célibataire diabétique hypertendu
    fumatore fumatrice bevitore portatore portatrice tabagista etilista ex-fumador hipertenso
    previamente anteriormente procedente natural presentando consciente patiente paziente doente
    entrante mentre cuando durante restante siguiente anterior primera tercero tercera primero
    derecho solteiro solteira viúvo viúva nullipare primipare multipare ancien ancienne
    """
)
_KIND = (
    r"(?: (?:de|del|en|d['’]|di|da|do|à|au|de la|of) ?[a-zà-ÿ]{3,16}| (?:jubilad[oa]"
    r"|prejubilad[oa]|retraité[e]?"
    r"|in pensione|reformad[oa]|aposentad[oa]|agrícola|civil|municipal|pensionat[oa])){0,2}"
)


def _is_work(text: str) -> bool:
    first = text.removeprefix("ex ").removeprefix("ex-").split(" ")[0].split("-")[0]
    return first not in _NO_WORK and not first.endswith(("ando", "endo", "mente", "ada", "ido"))


# -- streets, telephones, relations ---------------------------------------------------------------
_STREETS = """
    C/ R/ Avda Crta Pº Pza Ctra Carretera Cº Loma V.le P.zza corso viale piazza calle carretera
    travessa
"""
_CALLS = """
    tfno tlf tlfno telf tfn fono tlm telem telefone telefono teléfono tel móvil cell telemóvel
    portatile
"""
_RELATIVES = """
    hermana hermano mujer marido esposa esposo primo prima hija hijo nieto nieta sobrino sobrina
    nuera yerno suegra suegro cuñada cuñado madre padre tía tío cónyuge pareja vecina vecino
    cuidadora cuidador moglie marito figlia figlio nipote badante sorella fratello mamma papà
    cugino cugina suocera genero fils fille sœur frère épouse époux gendre mari compagne compagnon
    voisin voisine mère père belle-fille tia tio filha filho mãe pai irmã irmão sogra genro neta
    neto companheira tochter sohn bruder schwester nichte neffe ehemann ehefrau mutter vater
    lebensgefährtin enkelin enkel daughter son wife husband niece nephew uncle aunt roommate sister
    brother mother father partner
"""
_WHOSE = (
    r"(?:su|sus|el|la|il|lo|le|sa|son|sua|suo|seu|a|o|une?|his|her|the|ihre?|seine?|contacto:|al"
    r"|del|"
    r"dalla|dal|con)"
)
_APPOSED = (
    rf"(?P<part>[{CAPITALS}][^\W\d_]{{2,20}}"
    rf"(?: (?:{_LITTLE} )?[{CAPITALS}][^\W\d_]{{2,20}}){{0,3}})"
)


def _is_apposed(text: str) -> bool:
    words = text.split(" ")
    return not all(map(is_ordinary_word, words)) or is_given(words[0])


# -- where records are written ----------------------------------------------------------------
_PLACE_LABELS = """
    localidad/_provincia localidad/provincia localidad provincia comuna/región comuna municipio
    país país_de_nacimiento lugar_de_nacimiento lugar_de_origen naturalidade natural_de procedencia
    población lieu_de_naissance luogo_di_nascita comune_di_residenza
"""
_HOUSES = """
    Centro_de_Salud C.S. CAP Residencia CEIP IES CRA Fundación Colegio Clínica Hospital Hôpital
    Hôpital_de_jour Clinique Polyclinique EHPAD CHU CHRU CHI Centre_hospitalier Centro_Hospitalar
    Casa_di_Cura Ospedale Policlinico Klinikum Universitätsklinikum Krankenhaus Kantonsspital
    Seniorenheim Pflegeheim Maternidade Maternité Hospice Crèche Institut Consultorio Ambulatorio
    Sanatorio Policlínica Complejo_Hospitalario Azienda_Ospedaliera Hospital_de_Día
    Centre_Hospitalier
"""
_HOUSE_NAME = (
    rf"(?: (?:{_LITTLE}|los|las|le|les|des|du|et|e|für|(?:[ld]['’])?[{CAPITALS}][^\W\d_]{{1,24}}"
    rf"(?:[-’'][{CAPITALS}][^\W\d_]{{1,24}}){{0,3}})){{0,6}}"
    rf" (?:[ld]['’])?[{CAPITALS}][^\W\d_]{{1,24}}(?:[-’'][{CAPITALS}][^\W\d_]{{1,24}}){{0,3}}"
)


_ADDRESSED = (
    r"(?:dott\.(?:ssa)?|dr\.ssa|avv\.|Dipl\.-(?:Psych|Päd|Ing|Soz)\.|OÄ|OA|Oberarzt|Oberärztin"
    r"|Schwester|CTU"
    r"|[Ee]nfermer[oa]|Enf\.|Inf\.|Zeug(?:e|in)|[Tt]este|[Tt]estigo|DUE|RN|[Ii]nfirmi(?:er|ère)"
    r"|[Ss]age-femme"
    r"|(?:avec le|le|au|du|:|\() ?Pr|(?:par|de|à :|,|et) (?:Me|Maître)|[Nn]otaire)"
)

RECORDS = (
    shape(  # avv. Piercarlo Ubertini, le Pr Obadia, représentée par Me Navy
        "PERSON",
        rf"(?<!\w){_ADDRESSED} {_TITLE}(?P<part>(?:[{CAPITALS}]\.[ -]?){{0,2}}{_PART}"
        rf"(?: (?:{_LITTLE} )?{_PART}){{0,3}})(?![\w@])",
        _is_named,
        clue=any_listed(
            "dott dr avv Dipl OÄ OA Oberarzt Oberärztin Schwester CTU enfermera enfermero Enf Inf",
            "Zeuge Zeugin teste testigo DUE RN infirmier infirmière sage-femme Pr Me Maître",
            "notaire",
        ),
        reach=12,
    ),
    shape(  # Nom : VASSEUR   Prénom : Ginette
        "PERSON",
        rf"(?<!\w)(?:Nom(?: de naissance| de jeune fille| d['’]usage| marital)?|Cognome"
        rf"|Apellidos?|Apelido)[ ]?:[ ]{{1,3}}"
        rf"(?P<part>[{CAPITALS}][^\W\d_]{{1,24}}(?:[ -][{CAPITALS}][^\W\d_]{{1,24}}){{0,3}})"
        r"(?=[ ;,.\n]{1,6}(?:Prénom|Nom|Née?|Âge|Age|Date|DDN|Nome|Nato|Nata|Nombre|Sexe|Sexo"
        r"|Sesso))",
        clue=any_listed("Nom Cognome Apellido Apellidos Apelido"),
        reach=4,
    ),
    shape(  # Localidad/ Provincia: Logroño. La Rioja.
        "LOCATION",
        rf"(?<!\w)(?i:{any_of(_PLACE_LABELS)})[ ]?:[ ]{{1,4}}(?P<part>[{CAPITALS}](?:"
        rf"(?!  )[^\n:;|\d]){{1,60}}?)"
        r"(?=[.;]?[ ]{0,3}(?:\n|\Z|  )|[.;,]? [^\W\d_.]{2,14}:)",
        _is_named,
        clue=any_listed(_PLACE_LABELS),
        reach=20,
    ),
    shape(  # Residencia Aspaldiko
        "ORGANIZATION",
        rf"(?<!\w)(?P<part>{any_of(_HOUSES)}{_HOUSE_NAME})(?!\w)",
        clue=any_listed(_HOUSES),
        reach=24,
    ),
    shape(  # su mujer (Toñi), Contacto: hermana, Oksana
        "PERSON",
        rf"(?<!\w)(?i:{_WHOSE} {any_of(_RELATIVES)})(?:, (?:(?:la|el|il|lo|don|doña|dona) )?"
        rf"| ?\(){_APPOSED}(?=[,.;)]|$)",
        _is_apposed,
        clue=any_listed(_RELATIVES),
        reach=16,
    ),
    shape(  # bytem Polní 4
        "STREET_ADDRESS",
        r"(?<!\w)(?i:bytem|bydliště|bydlisko|bytom|zamieszkał[aye])(?: na| v| przy)? "
        rf"(?P<part>[{CAPITALS}][^\W\d_]{{1,24}} \d{{1,4}}(?:/\d{{1,4}})?[a-z]?)(?!\w)",
        clue=all_clues(
            least_digits(1),
            any_listed("bytem bydliště bydlisko bytom zamieszkała zamieszkały zamieszkałe"),
        ),
        reach=24,
    ),
    shape(  # Ctra. de Cádiz km. 548,9; C/ Dr. Mallafré Guasch, 4
        "STREET_ADDRESS",
        rf"(?<![\w.])(?P<part>(?:{any_of(_STREETS)})\.?[ ]?(?:(?:(?:{_LITTLE}|las|los|des|dei"
        rf"|degli|Dr\.|Dra\."
        rf"|Sta?\.|Gral\.|[IVX]{{1,4}}"
        rf"|[{CAPITALS}][^\W\d_]{{1,24}}) ){{0,6}}[{CAPITALS}][^\W\d_]{{1,24}})"
        r"(?:,? (?:(?:n\.?[º°o]?\.?|núm\.|km\.?) ?)?\d{1,4}(?:[.,]\d)?(?:[-–/]\d{1,4})?"
        r"(?:[A-Za-z](?!\w)|/[A-Z](?!\w)| bis|/bis)?))"
        r"(?![\w%]|[.,]\d| ?(?:mg|ml|kg|cm|mm|años|ans|anni|anos|€|euros?)(?!\w))",
        clue=all_clues(
            least_digits(1), any_string(*sorted({w.lower() for w in _STREETS.split()}))
        ),
        reach=4,
    ),
    shape(
        "PHONE_NUMBER",
        rf"(?<!\w)(?i:{any_of(_CALLS)})\.?(?: [a-zà-ÿ]{{3,8}})?[ ]?:?[ ]{{1,4}}"
        r"(?P<part>\(?\+?\d[\d ()/.-]{5,18}\d(?: (?:ext|extensión|interno)\.? ?\d{1,5})?)(?![\w]"
        r"|[.,-]\d)",
        lambda text: 6 < len(digits(text)) < 22,
        clue=all_clues(least_digits(7), any_listed(_CALLS)),
        reach=4,
    ),
    shape(  # Telefone: 239 701 882 / 914 028 377
        "PHONE_NUMBER",
        rf"(?<!\w)(?i:{any_of(_CALLS)})\.?[ ]?:?[ ]{{1,4}}\+?\d[\d ()-]{{6,18}}\d ?[/,;] ?"
        r"(?P<part>\+?\d[\d ()-]{5,18}\d)(?![\w]|[.,/-]\d)",
        lambda text: 6 < len(digits(text)) < 16,
        clue=all_clues(least_digits(14), any_listed(_CALLS)),
        reach=4,
    ),
    shape(
        "ACCOUNT_NUMBER",
        rf"(?<![^\W_])(?:{_NUMBERED} ?(?:de )?)?(?i:{any_of(_OF_PATIENTS)})\.?(?![^\W\d_])"
        rf"(?: ?{_NUMBERED})?{_VERB}[ \t]{{0,3}}[:#]?[ \t]{{0,4}}(?<=[ \t:#.]){_VALUE}",
        _is_of_patient,
        clue=all_clues(least_digits(3), any_listed(_OF_PATIENTS)),
        locate=_locate_number,
        reach=32,
    ),
    shape(
        "ACCOUNT_NUMBER",
        rf"(?<![^\W_])(?:(?:{_NUMBERED} ?(?:de )?)?(?:(?i:{any_of(_COUNTED)})(?: clínica)?\.?"
        rf"(?: ?{_NUMBERED}| ?[:#]|(?<=\.)|(?<=cédula)|(?<=biopsia)|(?<=Episodio)|(?<=Registro))"
        rf"|(?:{any_of(_CAPITAL)})(?: autonómico)?(?: (?:dele|dela|do doente|n[.º°]{{1,2}}))?)"
        rf"|[Nn]\.?[º°] (?i:{any_of(_COUNTED)})\.?)(?![^\W\d_])"
        rf"{_VERB}[ \t]{{0,3}}[:#]?[ \t]{{0,4}}(?<=[ \t:#.]){_VALUE}",
        _is_counted,
        clue=all_clues(least_digits(5), any_listed(_COUNTED, _CAPITAL)),
        locate=_locate_number,
        reach=16,
    ),
    shape(  # N° RG 18/03921 - N° Portalis DBVT-V-B7C-RWQL
        "CASE_NUMBER",
        rf"(?<!\w){_ROLL}[ ]?:?[ ]{{0,2}}"
        r"(?P<part>(?:[A-Z] )?\d[\dA-Z]{0,9}(?:[./-][\dA-Z]{1,10}){0,3}|[A-Z\d]{4}"
        r"(?:-[A-Z\d]{1,5}){2,4})"
        r"(?!\w|[./-]\w)",
        lambda text: not re.fullmatch(r"(?:19|20)?\d\d", text),
        clue=any_listed(
            "RG MINUTE Portalis Rôle Role Pourvoi Arrêt PV Procédure Parquet jugement requête"
            " ordonnance sous G R proc processo procedimiento Diligencias Autos Rollo Recurso"
            " Sumario Juicio re Case"
        ),
        reach=40,
    ),
    shape(  # Médico: Koldo Aranburu Etxeberria NºCol
        "PERSON",
        rf"(?<!\w)(?i:{any_of(_ROLE_LIST)})\.?"
        rf"(?:\(a\))?[ \t]{{0,2}}[:][ \t]{{0,6}}{_TITLE}{_NAME}",
        _names_somebody,
        clue=any_listed(_ROLE_LIST),
        reach=40,
    ),
    shape(
        "PERSON",
        r"(?<!\w)(?i:remitido por|firmado(?: electrónicamente)? por|(?:electronically )?signed by"
        rf"|dictated by|rédigé par|fdo\.?) {_TITLE}{_NAME}",
        _names_somebody,
        clue=any_listed("remitido firmado signed dictated rédigé fdo"),
        reach=16,
    ),
    shape(  # Loma Colmenar, s/n
        "STREET_ADDRESS",
        rf"(?<![\w/])(?P<part>[{CAPITALS}](?:[^\W\d_]{{0,20}}|[^\W\d_]{{0,3}}[./])"
        rf"(?: (?:{_LITTLE}|[{CAPITALS}](?:[^\W\d_]{{0,24}}"
        rf"|[^\W\d_]{{0,3}}\.))){{1,7}},? s/n(?:\.?[º°])?)(?!\w)",
        clue=any_string("s/n"),
        reach=220,
    ),
    shape(  # demeurant La Renaudière à Machecoul
        "STREET_ADDRESS",
        r"(?<!\w)(?:demeurant|domicilié(?:e|s)?)(?: au)? "
        rf"(?P<part>(?:[Ll]ieu[- ][Dd]it )?(?:(?:L[ea]s?|Aux?) "
        rf"|L['’])?[{CAPITALS}][^\W\d_]{{1,20}}"
        rf"(?:[ -][{CAPITALS}][^\W\d_]{{1,20}}){{0,3}})(?=,| à | -|\n|$)",
        clue=any_listed("demeurant domicilié domiciliée domiciliés"),
        reach=4,
    ),
    shape(  # Plaza Mayor nº 6, 1º A
        "STREET_ADDRESS",
        r"(?<!\w)(?P<part>(?:Plaza|Calle|Paseo|Avenida|Ronda|Rambla|Camino|Travesía|Glorieta"
        r"|Carrer|Rúa|Rua)"
        rf"(?: (?:{_LITTLE}|las|los|[{CAPITALS}][^\W\d_]{{1,24}})){{1,7}},? "
        rf"(?:n\.?[º°]\.?|núm\.|km\.?) ?\d{{1,4}}(?:[.,]\d)?(?:[a-zA-Z](?!\w))?{_MORE})(?!\w)",
        clue=any_listed(
            "Plaza Calle Paseo Avenida Ronda Rambla Camino Travesía Glorieta Carrer Rúa Rua"
        ),
        reach=4,
    ),
    shape(  # domiciliado en Camino Viejo de Monteagudo n.º 45
        "STREET_ADDRESS",
        rf"(?<!\w)(?i:{any_of(_LIVES_LIST)})(?::|(?<=\w))[ \t]{{1,4}}"
        rf"(?P<part>{_ROAD}{_HOUSE}{_MORE})(?!\w)",
        clue=all_clues(least_digits(1), any_listed(_LIVES_LIST)),
        reach=24,
    ),
    shape(  # desde noviembre
        "DATE_TIME",
        r"(?<!\w)(?:desde|hasta|en|depuis|en|da|a|in|em|até|seit|im|bis|since|in|until|on|at|dès)"
        rf" (?:el mes de |mes de |early |late |mid-)?"
        rf"(?P<part>{_MONTHS}|{any_of(_FEASTS)})(?!\w| ?\d)",
        case=False,
        clue=any_listed(_MONTH_LIST, _FEASTS),
        reach=30,
    ),
    shape(  # a veintiuno de noviembre de dos mil dieciséis
        "DATE_TIME",
        rf"(?<!\w){WORDS}(?: de)? (?:{_MONTHS}|mars|mai|may|march) (?:de )?{WORDS}(?!\w)",
        case=False,
        clue=any_listed(_MONTH_LIST, "mars mai may march"),
        reach=320,
    ),
    shape(  # de 66 años, albañil
        "PROFESSION",
        r"(?<=\d) (?:años|ans|anni|anos|aa)(?: de edad)?,? (?:(?:y|et|e|ed) )?(?:de profesión "
        r"|di professione "
        r"|de profissão |profession |ancien(?:ne)? |antigu[oa] |antig[oa] )?"
        rf"(?P<part>(?:ex[ -])?[a-zà-ÿ]{{2,18}}{_ENDS}{_KIND})(?!\w)",
        _is_work,
        clue=any_listed("años ans anni anos aa"),
        reach=4,
    ),
    shape(  # né le 3 février 1991 à Lens, cariste
        "PROFESSION",
        r"(?<!\w)(?:née?|nacid[oa]|nat[oa]|nascid[oa])(?:\(e\))? [^\n,;:]{4,60},"
        r"(?: (?:de )?(?:nationalité|nacionalidad|nazionalità|nacionalidade) [a-zà-ÿ]{4,20},)?"
        r"(?: (?:divorcé|célibataire|marié|casad|solter|celibe|nubile|coniugat"
        r"|divorciad)[a-z]{0,3},)?"
        rf" (?P<part>[a-zà-ÿ]{{4,20}}(?:-[a-zà-ÿ]{{3,14}})?{_KIND})(?=,|\n|;| demeurant"
        rf"| résidant|$)",
        _is_work,
        clue=any_listed("né née nacido nacida nato nata nascido nascida"),
        reach=4,
    ),
    shape(  # Ocupación: costurera; en qualité de repasseuse
        "PROFESSION",
        r"(?<!\w)(?:(?i:ocupación|profesión|profissão|professione|profession|beruf|occupation"
        r"|métier)[ ]?:[ ]{1,2}"
        r"|(?:en qualité d(?:e |['’])|[Tt]rabaja (?:como|de) |[Tt]rabalha como |[Ll]avora come "
        r"|[Tt]ravaille comme "
        r"|[Aa]rbeitet als |[Dd]e profesión |[Dd]i professione |[Dd]e profissão |[Vv]on Beruf "
        r"|[Aa]ncien |[Aa]ncienne |[Ee]x[ -]))"
        r"(?P<part>(?:[a-zà-ÿ]{4,20}|(?-i:[A-ZÄÖÜ])[a-zäöüß]{3,24}(?:in|er|mann|frau|wirt"
        r"|meister))"
        r"(?: (?:de|del|d['’]|di|da|do|à|de la|of) ?[a-zà-ÿ]{3,16}| (?:jubilad[oa]|retraitée?"
        r"|agrícola|civil)){0,2})(?!\w)",
        lambda text: text.split(" ")[0] not in _NO_WORK,
        clue=any_listed(
            "ocupación profesión profissão professione profession beruf occupation métier qualité"
            " trabaja trabalha lavora travaille arbeitet ancien ancienne ex"
        ),
        reach=16,
    ),
)
