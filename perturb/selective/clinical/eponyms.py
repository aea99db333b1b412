"""Eponyms: diseases, signs, scales and devices that have people's names: `enfermedad de Crohn`,
`Babinski negativo`, `Glasgow 15`.
"""

from __future__ import annotations

import re

from perturb.selective.clinical.words import COMMON_SURNAMES, WORD
from perturb.selective.patterns.given import is_given
from perturb.selective.patterns.shape import any_of, words_of
from perturb.text.fold import fold_name

__all__ = ["EPONYMS", "read_eponym"]

_EPONYM_LIST = """
    Achilles Addison Albright Allen Alport Alvarado Alzheimer Angelman Apgar Arnold Ashman Asperger
    Auer Austin Babinski Baker Barlow Barrett Barré Barre Barthel Bartholin Bartter Basedow Battle
    Bazett Bechterew Beck Becker Beckwith Behçet Behcet Bell Bence Berg Berger Bethesda Billroth
    Binet Binswanger Bishop Blalock Blondeau Blumberg Bonney Borg Bormann Borrmann Bosniak Bowen
    Bowman Braden Bragard Brenner Breslow Bristol Broca Brodmann Bromage Brooke Brudzinski Brugada
    Brunner Brushfield Buckle Budd Buerger Burch Burkitt Buschke Calvé Calot Caroli Caspar Chaddock
    Chagas Charcot Charlson Charnley Chédiak Cheyne Chiari Child Chvostek Clark Clavien Cockcroft
    Cockayne Codman Colles Connaught Conners Conn Cooley Coombs Cooper Costen Courvoisier Cowden
    Cowper Creutzfeldt Crohn Cronkhite Cullen Cushing Dandy Darier Dercum Devic DiGeorge Dindo Dix
    Doppler Douglas Down Dressler Dubin Dubois Dubowitz Duchenne Ducrey Dukes Dupuytren Duke
    Ebstein Edwards Ehlers Eisenmenger Epley Epstein Epworth Erb Esmarch Eustachio Ewing Fabere
    Fabry Fallot Falope Falopio Fallopio Fanconi Fazekas Felty Finkelstein Fischer Fisher Fite
    Fitzpatrick Fogarty Foley Folstein Fontaine Forrest Fournier Fowler Freiberg Frey Friedreich
    Froment Gaillard Galeazzi Gardner Garden Gartland Gasser Gaucher Ghon Giannotti Gianotti Giemsa
    Gilbert Giordano Gitelman Glanzmann Glasgow Gleason Goldmann Golgi Goodpasture Gorlin Gosserez
    Gottron Gowers Graser Gram Graves Grawitz Grey Grober Grynfeltt Guillain Guthrie Guyon Hamilton
    Hansen Harzer Hardinge Harrington Hartmann Hartnup Hashimoto Hasson Haverhill Heberden Hegar
    Heimlich Henle Henoch Hering Hesselbach Heyde Hickman Hippel Hirschsprung Hodgkin Hoehn Hoffa
    Hoffman Hoffmann Holter Homans Hoover Horner Hounsfield Humphrey Hunt Hunter Huntington Hurley
    Hurler Huet Jackson Jaeger Jakob Janeway Jarisch Jobe Jones Judet Kabat Kallmann Kaposi
    Karnofsky Kartagener Katz Kawasaki Kayser Kehr Kehrer Kellgren Kerley Kernig Kienböck Killip
    Kimmelstiel Kirschner Klatskin Klebs Kleihauer Klinefelter Klumpke Kocher Koch Köhler Koplik
    Korsakoff Korsakov Krukenberg Kugelberg Kussmaul Lachman Laennec Lambert Langerhans
    Laryngoscope Lasègue Lasegue Lauren Lawrence Leopold Leriche Lequesne Lewy Legg Leydig
    Lhermitte Libman Lichtenstein Lichtman Lister Lisfranc Little Lobstein Löffler Löwenstein
    Lowenstein Ludwig Lugol Lyme Lynch Maddrey Madelung Maffucci Maisonneuve Mallampati Mallory
    Maloney Mantoux Marburg Marfan Marshall Maslach Masson Mayo McBurney McGill McGinn McMurray
    Meckel Meige Ménière Meniere Menière Merkel Merseburg Meulengracht Mikulicz Miller Milroy
    Mingazzini Mobitz Mohs Mondor Monro Montreal Moro Morse Morton Müller Munchausen Münchhausen
    Murphy Naboth Naffziger Nash Naughton Neer Nelson Nissen Norton Nottingham Noyes Oddi Okuda
    Ollier Ormond Ortolani Osgood Osler Oswestry Ott Ottawa Outerbridge Paget Palmer Pancoast
    Paneth Papanicolaou Papile Parker Parkinson Patrick Payr Pavlik Penrose Perthes Peutz Peyer
    Peyronie Pfannenstiel Phalen Philadelphia Pick Pierre Plummer Popper Poser Potter Pott Prader
    Pratt Prinzmetal Pugh Purkinje Quervain Quick Quincke Ramsay Ranson Rastelli Rathke Raynaud
    Recklinghausen Redon Reed Reinke Reissner Reiter Retzius Reye Richardson Riedel Riley Ringer
    Rinne Robin Robson Rodnan Romberg Rorschach Roth Rotor Roux Rovsing Rutherford Saint Salter
    Sapporo Scarpa Schanz Scheltens Scheuermann Schiff Schiller Schilling Schirmer Schlatter
    Schlemm Schmorl Schober Schwann Segond Seldinger Sengstaken Sertoli Sever Sézary Shaffer
    Sheehan Shouldice Shirley Simmonds Simpson Sjögren Sjogren Skene Snellen Spalding Spurling
    Starling Steele Steinert Steinmann Stensen Stevens Stewart Stickler Still Stokes Stoller
    Stryker Sturge Sudeck Swan Sweet Swyer Sydenham Takayasu Tanner Tay Terry Thiersch Thomas
    Thompson Tietze Tinel Tinetti Todd Tourette Treitz Trendelenburg Trousseau Truelove Turner
    Unterberger Ullrich Valsalva Vater Venn Veress Virchow Vincent Volkmann Wagner Waldenström
    Waller Warthin Wang Waterhouse Weber Wechsler Wegener Weil Weiss Wells Wenckebach Werdnig
    Wernicke Wertheim West Westergren Wharton Whelan Whipple Whitaker Widal Willebrand Williams
    Willis Wilms Wilson Wirsung Witts Wolff Wolfram Wood Wright Yahr Young Yesavage Zancolli Zenker
    Ziehl Zinn Zollinger Zung Bergmann Neelsen Jensen Jost Brackmann House Blessed Gamna Ganz
    Ballard Capurro Silverman Fagerström Fleischer Strauss Danlos Kahn Vogt Harada Schönlein Barr
    Bartholino Pringle Rokitansky Hauser Kuster Küster Cassirer Cooke Blount Finochietto Kelly
    Allis Babcock Adson Metzenbaum Jamshidi Tuohy Whitacre Jackson-Pratt Saxon Donati Vicryl
    Luschka Sokolow Cornell Framingham Morrow Bruce Naranjo Zarit Lawton Pfeiffer Lobo Downton
    Emina Waterlow Hachinski Reisberg Hendrich Ahlbäck Ficat Pauwels Tscherne Gustilo AO Tokio
    Tokyo Viena Forrester Ishak Metavir Scheuer Stoddard Horton Bernard Evans Ritchie Herman
    Hadlock Bobath Rankin Gougerot Westley Bier Bakri Haven Bouchard Burgess Hallpike Prehn
    Gouverneur Laugier Jaboulay Civatte Bennett Rolando Monteggia Essex Lopresti Sachs Bankart
    Mirizzi Bouveret Boerhaave Dieulafoy Cameron Heller Ivor Billings Sims Huhner Ferriman Gallwey
    Asherman Sampson Bassini McVay Stoppa Rutkow Milligan Ferguson Parks Longo Delorme Altemeier
    Hinchey Balthazar Todani Strasberg Bismuth Couinaud Caprini Khorana Geneva Ginebra Aldrete
    Cormack Lehane Rastan Pittsburgh Berlin Stanford DeBakey Bentall Yacoub Ross Fontan Glenn
    Norwood Jatene Senning Mustard Waterston Rashkind Fleischner Haller Nuss Ravitch Ghent Breuer
    Biot Landau Kleffner Lennox Gastaut Dravet Rasmussen Unverricht Lafora Kennedy Welander
    Déjerine Sottas Marie Tooth Roussy Lévy Bickerstaff Hallervorden Spatz Sandhoff Krabbe Niemann
    Pompe McArdle Hers Forbes Cori Andersen Tangier Refsum Menkes Leigh Kearns Sayre Alpers Leber
    Stargardt Usher Coats Eales Terson Adie Argyll Robertson Marcus Gunn Duane Parinaud Foville
    Wallenberg Benedikt Balint Gerstmann Anton Klüver Bucy Capgras Cotard Ganser Fregoli Diogenes
    Diógenes Hamman Caplan Loffler Churg Takotsubo Corrigan Duroziez Carvallo Rivero Levine Ewart
    Graham Chilaiditi Ogilvie Jeghers Turcot Muir Torre Crigler Najjar Alagille Byler Reynolds
    Troisier Mayer Banff Fuhrman Jewett Whitmore Hunner Bricker Studer Camey Anderson Hynes Cohen
    Politano Leadbetter Lich Gregoir Pereyra Stamey Raz Manchester Shirodkar McDonald Lash
    McRoberts Rubin Zavanelli Kristeller Credé Brandt Ahlfeld Naegele Kielland Thierry Pinard
    Misgav Ladach Stark Westphal Zarate Cimino Brescia Scribner Tenckhoff Quinton
"""
_EPONYM = (
    rf"(?:(?:Grey|de|De|von|von der|del|El|La) )?{any_of(_EPONYM_LIST)}(?:['’]s(?!\w)|['’](?!\w))?"
)
_JOINED = r"(?:[-–/]|,? (?:y|et|e|und|and|&|i) |, | )"
EPONYMS = re.compile(rf"(?<![\w'’@.-]){_EPONYM}(?:{_JOINED}{_EPONYM}){{0,3}}(?![\w@]|['’]\w)")
_FRAME_LIST = """
    enfermedad enf síndrome sindrome sdme sd sme signo signos maniobra maniobras test prueba escala
    índice indice score puntuación clasificación criterios criterio grado clase estadio estadío
    stade reflejo técnica tecnica sonda catéter cateter drenaje anillo triada tríada tétrada
    péntada tumor quiste glándulas glándula células cuerpos cuerpo mancha manchas esófago hernia
    fractura fenómeno fenómenos respiración parálisis úlcera divertículo linfoma sarcoma corea
    psicosis encefalopatía tiroiditis contractura trompas trompa ganglio nódulos nódulo virus
    bacilo tinción pinza aguja clavo tornillo trócar incisión operación intervención método fórmula
    collarín posición línea líneas angina ataxia atrofia distrofia demencia enteritis gangrena
    tetralogía ectasia conducto papila ampolla ligamento trígono triángulo signe signes maladie mal
    syndrome épreuve épreuves échelle classification classifications critères manœuvre manoeuvre
    réflexe technique sonde cathéter drain drains kyste glandes cellules corps œsophage oesophage
    fracture phénomène paralysie ulcère diverticule lymphome chorée psychose encéphalopathie
    thyroïdite tonométrie champ visuel incidence voie table pince aiguille méthode selon d'après
    maladies syndromes stades malattia morbo segno segni manovra scala classificazione criteri
    riflesso catetere drenaggio tumore cisti ghiandole cellule corpi esofago ernia frattura
    fenomeno respiro paralisi ulcera diverticolo encefalopatia tiroidite colorazione legamento
    trigono doença doenças sinal sinais teste testes classificação critério critérios reflexo
    drenagem cisto quisto glândulas corpos esôfago hérnia fratura fenômeno paralisia coreia
    tireoidite coloração lesão laceração disease disorder sign signs tests scale criteria grade
    stage class level reflex tube catheter needle procedure operation palsy phenomenon tumour cyst
    cells body bodies oesophagus esophagus ulcer ring circle angle position maneuver lines triad
    type tipo tip typ model nach sec sg según segundo patrón padrão Morbus Zeichen Test Skala Score
    Stadium Klassifikation Level Typ Reflex Krankheit Syndrom Zyste Fraktur Thyreoiditis bacilli
    system index risque rischio riesgo enfermedades síndromes malattie sindromi punto point punti
    placas placa plexo plexus asa anse loop arco cáncer cancer adenocarcinoma reverse invertido
    stile inverso relación área areas lámpara lampe lamp fascia fosa espacio espace saco eje acceso
    abordaje vía bypass injerto parche férula yeso vendaje ejercicios
"""
_OF = r"(?: de la| de| del| d['’]| di| del| da| do| des| von| nach| of| modificad[oa] de)?"
_FRAMED = re.compile(
    rf"(?<!\w)(?:{any_of(_FRAME_LIST)})\.?(?: (?:\d{{1,2}}|[IVX]{{1,4}}))?{_OF}(?: |(?<=['’]))\Z",
    re.IGNORECASE,
)
_FRAMED_REACH = 40
_THING = re.compile(
    r"(?:['’]s)?(?:[ -][IVX]{1,3}| [A-D])?[ -](?:"
    + any_of(
        """
        disease disorder syndrome sign signs test scale score scores criteria classification class
        grade stage level index reflex technique tube catheter drain needle procedure operation
        fundoplication fracture palsy phenomenon tumor tumour cyst cells node nodes body esophagus
        oesophagus ulcer ring lines line bougie lens complex lesion thyroiditis lymphoma sarcoma
        chorea dementia encephalopathy anemia anaemia position maneuver manoeuvre pouch stent wire
        response triad syndrom zyste krankheit zeichen skala fraktur thyreoiditis resektion
        drainage fragment anämie fettkörper kontraktur arterie katheter klammer nadel ekg visuel
        monitor stain dressing collar sponge forceps retractor hook plexus points point hugger
        """
    )
    + r")(?!\w)",
    re.IGNORECASE,
)
# Beside a surname of many people only these count: the body or the test of Wilson is somebody's.
_SURE_FRAME = re.compile(
    r"(?i:enf|enfermedad(?:es)?|s[íi]ndromes?|signos?|maladies?|syndromes?|signes?|morbo|morbus"
    r"|malattia"
    r"|sindrome|segno|doenças?|sina(?:l|is)|disease|signs?|maniobra|escala|clasificación"
    r"|classification"
    r"|classificazione|classificação|échelle|scala|criterios|critères|fototipo|angina|enfermedad"
    r"|tiroiditis|linfoma|sarcoma|corea|fractura|fracture|frattura|fratura|catéter|sonda|sonde"
    r"|cathéter"
    r"|score|índice|indice|grado|grade|estad[íi]o|stade|técnica|technique|tecnica|type|tipo|typ)"
    r"(?!\w)"
)
_SURE_THING = re.compile(
    r"(?i:disease|syndrome?|sign|palsy|lymphoma|sarcoma|chorea|catheter|fundoplication|o?esophagus"
    r"|thyroiditis|krankheit|zyste|zeichen|thyreoiditis|resektion|phenomenon|criteria"
    r"|classification|-(?:level|score|skala|test))\Z"
)
_JUDGED = re.compile(
    r",? ?(?:\(?[+−–-]{1,3}\)?(?=[\s.,;)]|\Z)|(?:(?:es|son|era|est|sont|was|were|is|ist|é|è) )?"
    r"(?:neg(?:\.|ativ[oaes]{0,2}|atif|ative|atifs)?|pos(?:\.|itiv[oaes]{0,2}|itif|itive)?"
    r"|ausentes?|presentes?|absente?s?|présente?s?|assenti?e?|present|absent|abolid[oa]s?"
    r"|dudos[oa]s?|stable|indifférente?|indiferentes?|débil(?:es)?|no valorable|neg|pos|bds"
    r"|bilateral|simétricos?|descartad[oa]|escluso|excluded|not identified|unlikely|no realizada)"
    r"(?!\w))",
    re.IGNORECASE,
)
# A value on a scale, which is nobody's age: Glasgow 15, Clark III.
_VALUED = re.compile(
    r"(?: ?(?:score|scale|index|coma|test|clase|class|grade|grado|grade|stade|stadio|estadio|tipo"
    r"|type|level|total|modificado|de|del|al|a|à|of|was|is|:|=)){0,2}[ :]{1,2}"
    r"(?:<|>|≤|≥)?(?:\d{1,3}(?:[.,]\d{1,2})?(?:[ ]?[/+-][ ]?\d{1,3}){0,2}|[IVX]{1,4}[ab]?|I[ab]"
    r"|[A-D]\d{0,2}|\+{1,4})(?![\w])"
    r"(?!,? ?(?:años|años|años|a\.|ans|anni|anos|aa|y\.?o|years?|yrs?|yo|Jahre|-year|\d{3}))"
)
_TITLED = re.compile(
    r"(?:(?<!\w)(?:(?i:docteur|doctora?|señor(?:a|ita)?|monsieur|madame|nurse|sister"
    r"|enfermer[oa]|professeur|maître|don|doña|infirmi(?:er|ère)|hij[oa] de|herman[oa] de)|Mr|Mrs"
    r"|Ms|Miss|Dr|Dra|Drs|Sr|Sra|Srta|Herrn?|Frau|Hr|Fr|M|MM|Mme|Mlle|Me|Pr"
    r"|Prof|Don|Doña|Dña|D|Señora?|Monsieur|Madame|Maître|Docteur|Doctora?|Dott|Sig|Signora?"
    r"|Sr[ªa]|Senhora?|Dona|Schwester|Nurse|Judge|Sir|Patient|Paciente|Paziente|Pat|Paz|Pt)"
    r"(?:\.?ssa|\.?ra)?[.:]?[ ])\Z"
)
_NAME_BEFORE = re.compile(r"(?:[^\W\d_a-zß-ÿ][^\W\d_A-Z]{1,20}|[A-Z]\.)[ ,]{1,2}\Z")
_SENTENCE = re.compile(r"(?:\A|[.;:!?\n(/+] ?|- )\Z")
_SIGNS = words_of("allen hoffmann hoffman moro murphy weber thomas patrick")  # in an examination
_DISEASES = frozenset(("Addison", "Gilbert", "Mallory", "Wilson"))  # more often than people


def read_eponym(text: str, match: re.Match[str], *, patient: bool) -> tuple[int, int] | None:
    """Return the place of a phrase with the name of a match of `EPONYMS`, if a thing is meant.

    >>> text = "signo de Babinski"
    >>> read_eponym(text, EPONYMS.search(text), patient=False)
    (0, 17)

    Args:
        patient: whether the text is the record of a patient.
    """
    start, end = match.span()
    before = text[max(0, start - _FRAMED_REACH) : start]
    rare, borne = _weigh(match[0])
    if borne or _TITLED.search(before):
        return None
    framed, alone = _FRAMED.search(before), not _NAME_BEFORE.search(before)
    if framed and (rare or _SURE_FRAME.match(framed[0])):
        return start - len(before) + framed.start(), end
    if (thing := _THING.match(text, end)) and (alone or _SENTENCE.search(before)):
        return (start, thing.end()) if rare or _SURE_THING.search(thing[0]) else None
    judged = rare or (patient and fold_name(match[0]) in _SIGNS)
    after = (judged and _JUDGED.match(text, end)) or (rare and _VALUED.match(text, end))
    return (start, after.end()) if alone and after else None


def _weigh(names: str) -> tuple[bool, bool]:
    """Tell if one of the names of an eponym is neither a given name nor a surname of many people,
    and if all are given names."""
    words = [word for word in WORD.findall(names) if word[0].isupper()]
    given = [is_given(word) for word in words]
    common = [fold_name(word) in COMMON_SURNAMES for word in words]
    rare = not all(map(any, zip(given, common, strict=True)))
    return rare, all(given) and not any(word in _DISEASES for word in words)
