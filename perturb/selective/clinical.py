"""Tell that what the record of a patient or of a court names is nobody's.

- Eponyms: diseases, signs, scales and devices have people's names: `enfermedad de Crohn`,
  `Babinski negativo`, `Glasgow 15`.
- Doses, values of the laboratory and vital signs: `20 mg`, `Hb 12,9 g/dl`, `TA 165/95 mmHg`. What
  a person weighs or measures is not among them, nor how long something lasts.
- Departments, headings and the labels of forms: `Servicio de Cardiología`, `Fecha de Ingreso:`.
- In the record of a patient, words of medicine: illnesses, examinations, drugs.
- Statutes and their articles: `article L. 1142-1 du code`, `Ley 35/2015`, `§ 91a ZPO`.
- Titles (`Mme`, `Dr.`), and findings that hold nothing but articles and prepositions.

Only this is taken out of a finding; what else it holds stays one. A part that is found elsewhere
in the text is sensitive here, too: a patient named Wilson makes `Wilson` hidden everywhere.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence

from perturb.release import Span
from perturb.selective.patterns.everyday import EVERYDAY, GRAMMAR, LANGUAGES, is_everyday
from perturb.selective.patterns.given import is_given, is_ordinary_word
from perturb.selective.patterns.persons import WRITTEN_TITLE
from perturb.selective.patterns.shape import any_of, words_of
from perturb.selective.patterns.words import AFTER_PARTICLES, PARTICLES
from perturb.text.fold import fold_name
from perturb.vocabulary.stop_words import FUNCTION_WORDS

__all__ = ["drop_impersonal", "is_of_patient"]

# What may be found in such a phrase. An e-mail address or a telephone number is none.
_NAMED = frozenset(("LOCATION", "NAME", "ORGANIZATION", "OTHER_NAME", "PERSON"))
_COUNTED = frozenset(
    (
        *("CASE_NUMBER", "DATE_TIME", "DURATION", "ID", "MONEY", "NUMBER", "PERCENTAGE"),
        *("QUANTITY", "STREET_ADDRESS"),
    )
)
_TYPES = _NAMED | _COUNTED | {"DEMOGRAPHIC", "NRP", "PROFESSION", "TITLE"}
_WORD = re.compile(r"[^\W_]+")

# -- eponyms --------------------------------------------------------------------------------------
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
_RUN = re.compile(rf"(?<![\w'’@.-]){_EPONYM}(?:{_JOINED}{_EPONYM}){{0,3}}(?![\w@]|['’]\w)")
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
# Which are surnames of many people: only a word for a thing beside them counts.
_COMMON = words_of(
    """
    allen austin bell becker best bishop brandt brown bruce bruns burke clark cohen cooke cooper
    cornell cori costen davis duane duke edwards evans fischer fisher forbes foley fowler gardner
    garden gilbert gunn graham hamilton harrington hill holter hoffman hoffmann hunt hunter jackson
    jones kahn kelly kennedy koch kohler lambert lawrence leigh lewis little lobo long lynch marcus
    marshall mayer mayo mcdonald mcgill miller moro morris morrow morse morton muller murphy nash
    nelson norton palmer parker parks patrick perry pfeiffer pierre potter reed reynolds richardson
    riley roberts robin robson rolando ross roth roux russell sampson senning shirley simpson
    simmonds smith stewart still stone sweet tay terry thomas thompson todd turner vincent wagner
    waller ward weber weiss wells west williams wilson wood woods wright young zarate berger
    """
)
_SENTENCE = re.compile(r"(?:\A|[.;:!?\n(/+] ?|- )\Z")

# -- measures -------------------------------------------------------------------------------------
_FIGURES = (
    r"[<>≤≥~±]? ?\d{1,7}(?:[.,' ]\d{3}(?!\d)){0,3}(?:[.,]\d{1,4})?"
    r"(?: ?[-–/x×] ?\d{1,6}(?:[.,]\d{1,4})?){0,3}"
)
_UNIT = (
    r"(?:[mnpkµμu]?[gG](?=/)|mg|mcg|[µμu]g|ng|pg|[mµμu]?l(?=/)|m[lL]|dl|dL|cc|[mkµμ]?(?:UI|IU|U)"
    r"|mEq|[mµμun]?mol|mosm|mOsm|mmHg|mmhg|cmH2O|lpm|l\.p\.m\.?|bpm|rpm|lat/min|ppm|mm[23]?|nm|Gy"
    r"|cGy|mSv|kcal|kPa|dB|dioptr[íi]as|mcg|cp|cps?\.?|comp\.?|comprimidos?|compresse|comprimés?"
    r"|tablets?|Tbl\.?"
    r"|gotas|gouttes?|gtt|drops|puffs?|amp\.?|ampollas?|fl\.?|Fr|Ch|French|L/min|l/min|ml/min"
    r"|/min|/mm3|/mmc|/[µμ]l|/[µμ]L|/campo|mil/mm3|U/[lL]|x10\^?\d{0,2})"
)
_PER = (
    r"(?: ?/ ?(?:\d{1,2} ?)?(?:m[23]|mm[3c]|[dmµμu]?[lLgG]|kg|min|día|dia|d|j|h|jour|giorno|day"
    r"|Tag"
    r"|24 ?h|mol|hora|toma|puff|1,73 ?m2)(?!\w)){0,3}"
)
_MEASURE = re.compile(rf"(?<![\w.,]){_FIGURES} ?{_UNIT}(?!\w){_PER}")
_ANALYTE_LIST = """
    TA PA FC FR TAS TAD PAS PAD SatO2 SpO2 SaO2 Sat T° Tª T PVC GCS ECG EVA Hb Hto Htc Hgb Hct VCM
    HCM INR PCR VSG LDH GOT GPT GGT FA AST ALT ASAT ALAT CK CPK Na K Cl Ca Mg P pH pO2 pCO2 PaO2
    PaCO2 HCO3 EB HbA1c TSH T3 T4 PSA CEA CA125 AFP ANA FEVI FEVG FE FEVE EF LVEF FEV1 FVC DLCO
    FEV1/FVC MMSE MoCA NIHSS IMC BMI PAPs RR HF BP HR WBC RBC MCV Plt GB GR GV HDL LDL TG CRP BSG
    ESR BNP NT-proBNP Glucose Glu UreaN BUN Creat Cr eGFR DFG MDRD APTT TTPA TP Quick PTT EBL GFR
    Karnofsky ECOG ASA NYHA GOLD CCS APACHE SOFA SAPS CURB CHA2DS2-VASc HAS-BLED MELD EDSS UPDRS
    HAMD HADS BDI PHQ-9 GAD-7 DemTect BREF IADL ADL EGS BODE BI-RADS ACR TNM SBR FIGO ISUP Ki-67
    Ki67 HER2 RE RP ER PR p53 p63 BCL2 IgG IgM IgA IgE VHS PTH LH FSH HCG AMH DHEA ACTH CMV VEB O4
    V4 M6 PEEP FiO2 CPAP VNI EPWORTH ITB IPS BDI-II UHDRS BASDAI BASFI DAS28 HAQ SLEDAI PASI
    Leucocitos leucocitos Neutrófilos Plaquetas plaquetas Linfocitos Hemoglobina Creatinina
    creatinina Glucemia glucemia Urea urea Bilirrubina Troponina troponina créatinine amilasa
    Lipasa lipasa ferritina Ferritina Glasgow Apgar PAM TAM Peso-placenta OD OG OS OI QTc ST
"""
_ANALYTE = re.compile(
    rf"(?<![\w-])(?:{any_of(_ANALYTE_LIST)})\+?(?: (?:total|basal|normal|T|I|de|del"
    rf"|:)){{0,2}}[ :=]{{1,3}}"
    r"(?:[<>≤≥~] ?)?\d{1,3}(?:[.,/]\d{1,3}){0,2}(?: ?%)?(?![\w]|[.,/-]\d)"
    r"(?! ?(?:años|ans|anni|anos|aa|years?|yrs?|yo|y/o|Jahre)(?!\w))"
)
# 1-0-0, 1/2-0-1; cada 8 horas, c/12 h, every 6 hours
_DOSING = re.compile(
    r"(?<![\w/-])(?:[0-3]|½|1/2)(?:-(?:[0-3]|½|1/2)){2,3}(?![\w-])"
    r"|(?<!\w)(?:cada|c/|every|q|toutes les|alle|ogni|a cada|de)[ ]?\d{1,2}[ ]?"
    r"(?:horas?|h|hours?|hrs?|heures?|Stunden|ore|Std)(?!\w)"
    r"|(?<![\w.,])(?:3[3-9]|4[0-2])(?:[.,]\d)? ?[º°] ?C(?!\w)"
    r"|/ ?\d{1,2} ?(?:h|horas?)(?!\w)|\d{1,2} ?(?:h|horas?)(?=/)"
    r"|(?<!\w)(?:TNM|pT|cT|ypT)?[pcy]?T[is0-4x][a-d]?[12]?(?:[ ,]?[pc]?N[0-3x][a-c]?)"
    r"(?:[ ,]?[pc]?M[01x])?(?!\w)|(?<!\w)p?N[0-3][a-c]?(?!\w)|(?<!\w)G\d ?P\d(?: ?A\d)?(?!\w)"
    r"|(?<!\w)[CTL]\d{1,2}(?:[-–/][CTLS]?\d{1,2})(?!\w)|(?<!\w)C[Dd]\d{1,3}[+−-]?(?!\w)"
)
_PERCENT = re.compile(r"(?<![\w.,])\d{1,3}(?:[.,]\d{1,2})? ?%")

# -- departments, headings ------------------------------------------------------------------------
_FIELD = (
    r"(?:(?:[A-ZÁÉa-záéíóúç]{1,16}(?:olog[ií]a|ologie|ology|ologia|iatr[ií]a|iatrie|iatrics?"
    r"|iatry))"
    r"|Cirug[ií]a|Chirurgi[ae]|Chirurgie|Surgery|Cirurgia|Medicina|Médecine|Medicine|Medizin"
    r"|Urgencias?|Urgences|Emergency|Ortopedia|Ortop[ée]dica|Obstetric(?:ia|s)|Rehabilitación"
    r"|Radiodiagnóstico|Anatom[ií]a Patol[óo]gica|Digestivo|UCI|UVI|UTI|Quirófano|Hemodin[áa]mica"
    r"|Neurocirug[ií]a|Neurochirurgie|Otorrinolaringología|ORL|Maxilofacial|Consultas Externas"
    r"|Interna|Intensiva|Tropical|Preventiva|Nuclear|General|Infantil|Digestiva|Cardiovascular"
    r"|Vascular|Vasculaire|Générale|Viscérale|Orthopédique|Plástica"
    r"|Torácica|Cardiaca|Cardíaca|Médica|Médico|Pediátrica|Perinatal|Coronaria|Mama|Dolor"
    r"|Cuidados Intensivos|Cuidados Paliativos|Traumatolog[ií]a)"
)
_FIELDS = rf"{_FIELD}(?:(?: (?:y|e|et|und|and|&|de|del|della|do|da|pour) | ){_FIELD}){{0,4}}"
_HEAD = (
    r"(?:Servicio|Sección|Secc\.|Unidad|Departamento|Dpto\.?|Área|Consulta|Service|Unité|Pôle"
    r"|Département|Abteilung für|Abteilung|Reparto|Servizio"
    r"|Unità Operativa|U\.O\.|Divisione|Serviço|Setor|Department|Dept\.?|Division|Servei|Comité"
    r"|Ambulatorio|Ambulatório|FEA|MIR|Residente|Especialidad:|Servicio:|Service:)"
)
_DEPARTMENT = re.compile(
    rf"(?<!\w){_HEAD}(?: (?:de la|de l['’]|de|d['’]|del|di|of|do|da|für))? ?{_FIELDS}(?!\w)"
)
_FIELD_ALONE = re.compile(_FIELDS)
# Of the words for a department, those that are hardly anybody's name.
_FIELD_HEAD = re.compile(
    r"olog|iatr|[Cc]iru|[Cc]hir|Surgery|M[eé]d[ei]c|Medizin|Urgenc|Ortop|Obst|Rehab|Radio|Patol"
    r"|Digestivo|UCI|UVI|UTI|ORL|Quir|Hemod|Externas|Intensiv|Paliativ"
)
_LABEL_PHRASES = (
    r"Datos (?:del? paciente|asistenciales|personales|cl[íi]nicos)"
    r"|Informe (?:cl[íi]nico(?: del paciente)?|m[ée]dico(?: forense)?|de alta"
    r"(?: de hospitalizaci[óo]n)?)"
    r"|(?:FECHA|Fecha) (?:DE|de) (?:[Ii]ngreso|INGRESO|[Aa]lta|[Nn]acimiento|NACIMIENTO|[Nn]acim"
    r"|[Ii]ntervención|consulta|informe)"
    r"|Fecha|Localidad ?/ ?Provincia|Localidad|Provincia|Comuna ?/ ?Regi[óo]n|Domicilio"
    r"|Direcci[óo]n"
    r"|N[º°.]{1,2} ?[Cc]ol\.?|NºCol|NHC|NASS|NUHSA|CIPA?|SIP|C\.?P\.?|DNI|N\.?I\.?E\.?|CURP|RUN"
    r"|Edad|Sexo"
    r"|N[º°] ?(?:Historia|biopsia|HC)|Historia (?:Actual|cl[íi]nica)|Motivo de (?:consulta"
    r"|ingreso)"
    r"|Antecedentes(?: (?:personales|familiares|patol[óo]gicos))?|Exploraci[óo]n(?: f[íi]sica)?"
    r"|Juicio (?:cl[íi]nico|diagn[óo]stico)|Diagn[óo]stico(?: [Pp]rincipal)?|Tratamiento"
    r"(?: al alta)?"
    r"|Resumen de pruebas complementarias|Pruebas complementarias|Evoluci[óo]n(?: y comentarios)?"
    r"|Enfermedad [Aa]ctual|Remitido por|Correspondencia|Procedencia|Episodio"
    r"|Responsable cl[íi]nico"
    r"|HOJA DE INTERCONSULTA|RESUMEN DE HISTORIA CL[ÍI]NICA|EVOLUTIVO DE ENFERMER[ÍI]A"
    r"|COMPTE[- ]RENDU(?: (?:D['’]HOSPITALISATION|OPÉRATOIRE|DE CONSULTATION))?"
    r"|Compte[- ]rendu(?: (?:d['’]hospitalisation|opératoire|de consultation))?"
    r"|ANT[ÉE]C[ÉE]DENTS|Ant[ée]c[ée]dents|EXAMEN CLINIQUE|TRAITEMENT(?: [ÀA] L['’]ENTR[ÉE]E)?"
    r"|BIOLOGIE"
    r"|CONCLUSION|Conclusion|Adresse|T[ée]l\.?|Nom(?: de naissance)?|Pr[ée]nom|Patiente?"
    r"|N[ée]\(e\) le"
    r"|INTIM[ÉE]E?S?|APPELANTE?S?|D[ÉE]FENDEURS?|D[ÉE]FENDERESSE|DEMANDEURS?|DEMANDERESSE"
    r"|ORDONNANCE"
    r"|ARR[ÊE]T(?: AU FOND)?|JUGEMENT|COMPOSITION DU TRIBUNAL|D[ÉE]BATS|EXPOS[ÉE] DU LITIGE"
    r"|PAR CES MOTIFS"
    r"|PROC[ÈE]S-VERBAL(?: D['’]AUDITION)?|Copie exécutoire|Attendu|Considérant"
    r"|LETTERA DI DIMISSIONE|REFERTO(?: DI PRONTO SOCCORSO)?|VERBALE DI INTERVENTO|Data "
    r"(?:ricovero|dimissione)"
    r"|NOTA DE ALTA|RELAT[ÓO]RIO M[ÉE]DICO|BOLETIM DE URG[ÊE]NCIA|SUM[ÁA]RIO DE ALTA|Morada"
    r"|Endereço|CEP"
    r"|DISCHARGE SUMMARY|OPERATIVE REPORT|NURSING NOTE|PSYCHIATRIC EVALUATION"
    r"|Discharge Medications"
    r"|Admission Date|Discharge Date|Date of Birth|Chief Complaint|Unit No|Attending|Allergies"
    r"|HISTORY"
    r"|Entlassungsbrief|OP-Bericht|Befund|Diagnosen?|Anamnese|Therapie|Beschluss|Pat\.|Fallnummer"
)
_LABEL = re.compile(
    rf"(?<![\w'’])(?:{_LABEL_PHRASES})(?=[ \t]{{0,2}}(?:[:.;\n(]|\Z)|[ \t]{{1,3}}(?:(?:du|del?"
    rf"|vom|am|do) )?\d)"
)

# -- statutes -------------------------------------------------------------------------------------
_BOOK = (
    r"(?:(?:du |le |del |della |do |of the |des )?(?:[Nn]ouveau )?(?:[Cc]ode|[Cc][óo]digo"
    r"|[Cc]odice)"
    r"(?: (?:de(?: la| l['’])?|d['’]|du|di|del|des)? ?(?:civil|pénal|penal|civile|penale|procédure"
    r"|procedura|proc[ée]dimiento|travail|Trabalho|trabajo|santé publique|justice administrative"
    r"|commerce|comercio|sécurité sociale|consommation|[A-Z]\w{3,14}|civil[es]?|pénale)){1,4}"
    r"|BGB|ZPO|StGB|StPO|GG|SGB [IVX]{1,4}|FamFG|InsO|HGB|OWiG|VwGO|c\.p\.c\.?|c\.c\.?|c\.p\.?"
    r"|c\.p\.p\.?"
    r"|CPP|CPC|CC|CP|LEC|LECrim|LOPJ|VersMedV)"
)
_ARTICLE_NO = (
    r"(?:[LRDA]\.? ?\*?)?\d{1,5}(?:[.-]\d{1,4}){0,3}(?:[º°.]{1,2})?(?: (?:bis|ter|quater))?[a-z]?"
)
_STATUTE = re.compile(
    rf"(?<!\w)(?:[Aa]rt(?:icles?|[íi]culos?|icol[oi]|igos?|\.)?|§{{1,2}}|[Ss]ections?"
    rf"|[Aa]rts?\.)[  ]{{0,2}}"
    rf"{_ARTICLE_NO}(?:(?:,| et| y| e| and| und| à| a)+ {_ARTICLE_NO}){{0,4}}"
    rf"(?:,? (?:al(?:in[ée]a)?\.?|Abs\.|S\.|Nr\.|n\.?[º°]|comma|apartado|párrafo|§"
    rf"|para) ?\d{{1,2}}(?!\d)){{0,3}}"
    rf"(?:,? {_BOOK})?(?!\w)"
    rf"|(?<!\w)(?:[Ll]oi|[Ll]ey(?: [Oo]rgánica)?|[Ll]egge|[Ll]ei|[Dd]écret|[Rr]eal [Dd]ecreto"
    rf"|[Dd]ecreto|[Oo]rdonnance"
    r"|D\.? ?Lgs\.?|D\.?P\.?R\.?|D\.?L\.?|[Rr]èglement|Reglamento|Directiv[ae]|Directive)"
    r"(?: \(?(?:UE|CE|EU)\)?)?(?: n[.º°o]{0,2})? ?\d{1,4}[-/. ]\d{2,4}(?:/CE|/UE)?"
    r"(?:,? (?:du|de|del|di) \d{1,2}(?:er)?(?: de)? (?:[^\W\d_]{3,10})(?:(?: de)? \d{4})?)?(?!\w)"
    rf"|(?<!\w){_BOOK}(?!\w)"
)
_STATUTE_CLUE = re.compile(
    r"§|[Aa]rt|[Ss]ection|[Ll]o?ei?y?|[Ll]egge|[Dd]\.|[Cc][oó]d|BGB|ZPO|StGB|SGB"
)

# -- courts, of which the place stays a finding -------------------------------------------------
_COURT = re.compile(
    r"(?<!\w)(?:(?:(?i:la |le |du |au )?(?i:cour (?:administrative )?d['’]appel|cour de cassation"
    r"|cour d['’]assises"
    r"|tribunal (?:de grande instance|judiciaire|administratif|de commerce|d['’]instance"
    r"|correctionnel)"
    r"|conseil d['’]état|conseil de prud['’]hommes|conseil constitutionnel|maison d['’]arrêt"
    r"|(?:au|du) barreau)"
    r"(?i: de l['’]| de| d['’]| du)?)"
    r"|(?i:tribunale(?: ordinario| civile| amministrativo regionale)?(?: di)?|corte d['’]appello"
    r"(?: di)?|corte (?:suprema )?di cassazione)"
    r"|Cass\.(?: S\.U\.| civ\.| pen\.)?(?: n\.)?"
    r"|(?i:tribunal (?:judicial )?(?:da (?:comarca|relação) d[aeo]|central criminal)"
    r"|supremo tribunal de justiça|ministério público"
    r"|juízo (?:local|central) (?:criminal|cível)(?: d[aeo])?))(?!\w)"
    r"|(?<!\w)(?:\d{1,2}(?:e|ère|ème|re)|(?i:première|deuxième|troisième|quatrième|cinquième"
    r"|sixième)) (?i:chambre)"
    r"(?: (?:civile|sociale|commerciale|criminelle|[A-D]))?(?!\w)|(?<!\w)[Cc]hambre (?:sociale"
    r"|civile|criminelle|commerciale|\d(?:-\d)?)(?!\w)"
)
_ACTING = re.compile(
    r"(?<!\w)(?i:avocate?s? (?:à la cour|au barreau|général(?:e|es)?|aux conseils)"
    r"|experte?s? (?:judiciaires?|près)|conseill(?:er|ère)s? (?:doyen|rapporteur|référendaire)"
    r"|rapporteure? publi(?:c|que)|juge (?:des référés|aux affaires familiales|d['’]instruction)"
    r"|abogad[oa] del estado|richter(?:in)? am \w{4,20}gericht|avvocato generale)(?!\w)"
)
# Who somebody is in a trial.
_PARTIES = words_of(
    """
    klager klagerin beklagter beklagte beklagten antragsteller antragstellerin antragsgegner
    demandeur demanderesse defendeur defenderesse appelant appelante intime intimee requerant
    requerante ricorrente convenuto convenuta attore attrice contumace resistente arguido arguida
    ofendido reu autor autora requerente requerido demandante demandado demandada recurrente
    recurrido querellante plaintiff defendant claimant respondent appellant applicant petitioner
    attendu considerant cassation societe rechtsstreit beschluss urteil endurteil tatbestand
    familiensache ordonnance jugement arret recurso sentencia auto sentenza ordinanza premesso
    sentenca acordao cour chambre section composition cabinet affaires familiales sociale civile
    commerciale criminelle audience publique debats demeurant representant legal prevenu prevenue
    mandat comparution attaque conclusion appel formation droit visite faits procedure motifs
    minute parquet somme entree zivilkammer kaufpreises kaufpreis zinsen rechtsanwalte laquelle
    lequel susnomme susnommee comparant comparante secretariat confrere consoeur docteur collega
    verfahren klage bundesrepublik corte teste osserva intentou alegou acao causa ricorso
    appellante giudice seccion sala rollo autos hechos fundamentos antecedentes fallo demanda
    juzgado instruccion partes part parties judgment order qualite alcoolique etat nationalite
    nationalitat nacionalidad passage vehicule conduite empire
    """
)
# Before a name, and no part of it.
_LEADING = re.compile(
    r"(?<!\w)(?:Me|Mes|Mme|Mmes|Mlle|Monsieur|Madame|Mesdames|Messieurs|Mademoiselle|Maître|"
    r"(?:[Ll]e )?[Dd]octeur|"
    r"(?:[Ll]a )?[Ss]ociété|"
    r"(?:[Ll]e )?[Pp]rofesseur"
    r"|Dr\.? med\.?(?: univ\.)?|Dr|Dra|Drs|Pr|Prof\.? Dr|Prof|Herrn?|Frau|Fr\.|Hr\.|Mrs|Ms|Mr|"
    r"(?:[Ii]l |[Ll]a )?[Ss]ig\.?(?:ra|na)?"
    r"|[Dd]ott\.?(?:ssa|re)?|[Dd]r\.ssa|[Aa]vv|Sra?|Srta|Señora?|Dña|Doña)\.?[ ]{1,2}"
    r"(?=[^\W\d_a-zß-ÿ])"
)
_MISTER = re.compile(
    r"(?<=[^\W\d_,;(:] )M\. (?=[^\W\d_a-zß-ÿ][^\W\d_]{2})|(?<=[,;(:] )M\. "
    r"(?=[^\W\d_a-zß-ÿ][^\W\d_]{2})"
)
# Of a court's papers in French or German, which keep the titles of those that they name.
_OF_COURT = re.compile(
    r"N° ?RG|RG n°|Portalis|INTIM[ÉE]|APPELANT|DEMANDE(?:UR|RESSE)|D[ÉE]FENDE(?:UR|RESSE)"
    r"|[Pp]ourvoi n°"
    r"|Rôle N°|Attendu, selon|N° Parquet|statuant au contentieux|Inédit au recueil"
    r"|ASSIGNATION|PROC[ÈE]S-VERBAL D['’]A|AYANT POUR AVOCAT|IM NAMEN DES VOLKES"
    r"|– (?:Kläger|Beklagte)(?:r|in|n)? –"
)

# -- words of medicine ----------------------------------------------------------------------------
# A stem and an ending, of the languages that share them: hepatitis, hépatite, Hepatitis.
_ENDING = re.compile(
    r"\w{2,20}(?:itis|itisch|ites?|ose[sn]?|osis|emi[ae]s?|amie|uri[ae]s?|pati[ae]s?|pathy"
    r"|pathie[n]?|algi[ae]s?"
    r"|ectomi[ae]s?|ectomy|ostomi[ae]|otomi[ae]s?|otomy|plasti[ae]s?|plasty|scopi[ae]s?|scopy"
    r"|grafi[ae]s?"
    r"|graphi[ae]s?|graphy|ografico|peni[ae]s?|plegi[ae]s?|plejias?|paresi[as]s?|trofi[ae]s?"
    r"|trophie|megali[ae]"
    r"|carcinomas?|carcinome|sarcomas?|linfomas?|lymphom[ae]?|melanom[ae]?|adenom[ae]?|mielom[ae]"
    r"|glioma"
    r"|hematomas?|hamatom|granulomas?|fibromas?|lipidemi[ae]|tensi[oó]n|tensive[rs]?|tensiv[ao]s?"
    r"|rragi[ae]s?"
    r"|estesi[ae]|sthesi[ae]s?|kinesi[ae]|stenosis|stenose|plasm[ao]|rrhea|rrea|rrhoe|rrhee"
    r"|spasm[eo]?|lisis"
    r"|lyse|terapi[ae]|therapi[ae]|therapy|genic[ao]|tomico|vascular(?:es)?|cardi[ao]c[ao]s?"
    r"|pulmonar(?:es)?"
    r"|lateral(?:es)?|cerebral(?:es)?|rrhage|plegic[ao]|ectasi[ae]|cardi[ae]|ictericia"
    r"|ismo tiroideo)"
)
_DRUG = re.compile(
    r"\w{2,20}(?:cil(?:ina|line|lin)|micin[ae]?|mycin[e]?|floxacin[aoe]?|cicl?lin[ae]|cyclin[e]?"
    r"|azol[eo]?|prazol[eo]?"
    r"|statin[ae]?|sartan[e]?|prolol|olol[o]?|pril[o]?|dipin[aoe]?|xaban|gliptin[ae]?"
    r"|gliflozin[ae]?|azepam"
    r"|zolam|zepam|triptan|setron|parin[ae]?|mab[e]?|tinib|ciclovir|vudin[ae]|caina|caine"
    r"|prednison[ae]|prednisolon[ae]?"
    r"|cortison[ae]|furosemid[ae]?|tiazid[ae]|zolamid[ae]?|formin[ae]?|dronat[oe]?|darona?e?|dopa"
    r"|tadin[ae]?|razin[ae]"
    r"|pidogrel|tidin[ae]|platin[oe]?|rubicin[ae]|taxel|bactam|penem|treonam|cefal\w{2,8}"
    r"|ceft\w{3,8}|cefaz\w{3,6}"
    r"|oxicam|profeno?|fenac[o]?|cetamol|amizol|lactona|lactone|gabalin[ae]?|pentin[ae]?"
    r"|trigin[ae]?|etiapin[ae]?"
    r"|tapin[ae]?|zapin[ae]?|peridon[ae]?|peridol|xetin[ae]?|tralin[ae]?|alopram|faxin[ae]?"
    r"|tirox\w{2,4}|insulin[ae]?"
    r"|imab|umab|mustin[ae]?|amicin[ae]|oxetina|dexametason[ae]|metason[ae]|rasidona|lukast"
    r"|glutid[ae]?|globulina)"
)
_MEDICAL = words_of(
    """
    enfermedad enfermedades actual signo signos sintoma sintomas sindrome sindromes dolor fiebre
    febril afebril vomito vomitos nausea nauseas diarrea tos disnea cefalea mareo edema edemas
    prurito lesion lesiones fractura fracturas herida heridas tumor tumores tumoracion masa nodulo
    nodulos quiste quistes infeccion infecciones infarto ictus isquemia trombosis embolia
    hemorragia sangrado rotura hernia ulcera ulceras diabetes mellitus asma epoc hta dm dlp hbp fa
    acfa ic ira irc hvi covid vih vhc vhb tbc dm1 dm2 hsa dt2 cancer neoplasia metastasis leucemia
    linfoma mieloide linfoide melanoma hipertension hipotension dislipemia hipercolesterolemia
    alergia alergico alergica alergias betalactamicos penicilina shock sepsis coma ictericia
    cirrosis insuficiencia renal hepatica hepatico cardiaca cardiaco respiratoria respiratorio
    gastrica gastrico gastroesofagico urinaria urotelial papilar ductal infiltrante invasivo
    benigno maligno agudo aguda cronico cronica primaria primario secundaria secundario difuso
    positivo positiva positivos positivas negativo negativa negativos negativas normal normales
    derecho derecha izquierdo izquierda bilateral anterior posterior superior inferior superiores
    inferiores descendente ascendente lateral medial distal proximal arteria arterias vena venas
    aorta coronaria auricular ventricular valvula miembros miembro extremidad antebrazo brazo
    pierna mano pie rodilla cadera hombro codo tobillo columna raiz ovario utero mama prostata
    vejiga rinon higado pulmon corazon cerebro craneo craneal torax abdomen abdominal cuello ojo
    piel hueso musculo nervio ganglio sangre orina suero plasma hematies leucocitos plaquetas
    neutrofilos hemoglobina glucosa glucemia creatinina urea sodio potasio bilirrubina troponina
    igg igm ige iga anticuerpos serologia cultivo hemocultivo urocultivo biopsia ecografia
    radiografia tac tc rm rmn rx ecg eeg emg pet ecocardiograma holter analitica gasometria
    citologia frotis puncion cateterismo cirugia intervenido intervenida quirurgico quirurgica
    anestesia sutura grapas drenaje cateter sonda protesis stent injerto trasplante transfusion
    trasfusion tratamiento quimioterapia radioterapia fracciones concentrados antecedentes
    exploracion consciente orientado orientada alerta agudeza lordosis mitosis genetico embarazo
    parto eutocico cesarea gestacion cefalico menarquia menopausia menopausica aborto tolera
    consulta revision cita citado citada alta ingreso ingresos urgencias planta control controles
    pendiente aviso familiares diuresis dieta reposo deterioro cognitivo insomnio ansiedad
    depresion agitacion motocicleta traumatismo accidente caida sacadicas lentas motora motor
    sensitivo reflejos pupilas pares test escala indice grado estadio clase fototipo intervencion
    tecnica triada reflejo prueba pruebas serie reactivo reactiva reaccion adversa efecto efectos
    secundarios farmacos farmaco dosis informe informes hospitalizacion servicio paciente unidad
    seccion comite colecciones esami terapia maladie maladies syndrome syndromes signe signes
    symptome douleur douleurs fievre toux dyspnee oedeme fracture fractures plaie infarctus avc
    ischemie thrombose embolie hemorragie hernie ulcere diabete asthme bpco tumeur metastase
    leucemie lymphome hypertension allergie allergies insuffisance cardiaque renale hepatique
    respiratoire aigu aigue chronique droite gauche droit anterieur posterieur hallux valgus genou
    hanche epaule poignet rachis thorax crane echographie scanner irm radiographie biopsie bilan
    biologie chirurgie anesthesie prothese suture traitement antecedents examen clinique
    consultation hospitalisation urgences crepitants ptg matin soir bases souffle urinaire vaccins
    mucoviscidose bronchiolite depistage neuropsychique psychique atcd delirant cotyle coxarthrose
    osteotomie algodystrophie malattia segno dolore febbre tosse dispnea frattura ferita ischemia
    trombosi emorragia ernia tumore metastasi ipertensione allergia insufficienza destro destra
    sinistro sinistra ginocchio spalla torace addome risonanza chirurgia protesi aritmici soffio
    adenocarcinoma acinare reperto doenca sinal febre dispneia fratura ferida enfarte trombose
    hipertensao direito direita esquerdo esquerda joelho quadril ombro ressonancia cirurgia protese
    exame krankheit symptom schmerz schmerzen fieber husten atemnot fraktur wunde infarkt
    schlaganfall ischamie blutung ulkus asthma copd krebs karzinom leukamie hypertonie insuffizienz
    rechts links beidseits knie hufte schulter schadel sonographie rontgen mrt ct operation narkose
    naht drainage befund diagnose diagnosen anamnese therapie labor medikation episode
    suizidversuch tinnitus hautschnitt blutstillung disease illness sign pain fever cough dyspnea
    wound infarction stroke thrombosis embolism hemorrhage ulcer carcinoma leukemia lymphoma
    allergy failure heart hepatic left right chest ultrasound biopsy surgery anesthesia drain
    catheter hypotension breast invasive core shortness breath congestive chronic acute atrial
    fibrillation rheumatica cavitary calcified pneumonia anemia vomiting alert oriented extubated
    intubated impression findings technique indication procedure preoperative postoperative
    diagnosis diagnoses medications anemias bronquitis ataxia varices esofagicas ligadas urticaria
    anafilaxia epilepsia mioclonica macula asimetrica policromia poliuria polidipsia hematuria
    monosintomatica adenomatosa hipotiroidismo hipertiroidismo hipocondrio evolucion oxigenoterapia
    portador miocardiopatia chagasica trypanosoma mycobacterium tuberculosis borrelia burgdorferi
    escherichia coli staphylococcus streptococcus pneumoniae helicobacter pylori candida
    pseudomonas klebsiella salmonella toxoplasma plasmodium virus bacteria hongos cutanea
    hipocromica anestesica transmetatarsiana endometrioide diagnosticada fumador fumadora exfumador
    ingresado adjunta institucionalizada epistaxis sincope palpitaciones convulsion convulsiones
    crisis vertigo acufenos rinorrea odinofagia disfagia pirosis meteorismo estrenimiento
    hemoptisis expectoracion ortopnea oliguria anuria disuria polaquiuria incontinencia amenorrea
    dismenorrea metrorragia leucorrea lumbalgia cervicalgia artritis artrosis osteoporosis esguince
    luxacion contusion quemadura laceracion abrasion hematoma absceso flemon celulitis erisipela
    psoriasis eczema acne verruga nevus vitiligo alopecia glaucoma cataratas conjuntivitis
    retinopatia hipoacusia otitis obesidad desnutricion anorexia bulimia esquizofrenia bipolar
    demencia neumonia pancitopenia trombocitopenia nefrolitiasis litiasis colelitiasis pancreatitis
    apendicitis peritonitis colitis hepatitis meningitis encefalitis acido calcio hierro vitamina
    oxigeno heparina morfina adrenalina atropina amigdalectomia apendicectomia tumorectomia
    lumpectomy hysterectomy mastectomia claudication ostealgies hypofixation menopausee menopause
    goutte gouttes comprime comprimes prises prise repas psychiatrique radiotherapie chimiotherapie
    arthrotomie polyarthrite arthrose sciatique lombalgie cephalees vertiges nausees vomissements
    diarrhee constipation anorexie asthenie amaigrissement epilepsie migraine pneumopathie
    pleuresie tachycardie bradycardie oedemes phlebite urticaire anemie hemoptysie pyelonephrite
    lithiase cholecystite pancreatite appendicite peritonite hepatite meningite demence depression
    angoisse insomnie schizophrenie obesite denutrition denutri prostate sein utérus ovaire colon
    estomac foie cardiopatia ischemica ischemico astenia vertigini stipsi epilessia polmonite
    bronchite demenza depressione insonnia obesita mellito inguinale sacrale mammella polmone
    fegato stomaco cervello cuore pelle osso prick dermatophagoides hematemeses hemostase enurese
    rigidez matinal fototerapia neonatal obesidade bronquite enxaqueca tontura gastrectomia
    estomago figado rim coracao angina pectoris nikotin migrane pneumonie bronchitis anamie demenz
    adipositas appendizitis melanom malignes sicherheitsabstand praparation myelose funikulare
    gangunsicherheit hyperextensionstrauma lunge leber niere magen herz gehirn haut knochen brust
    penicillins esophagus esophageal laparoscopic hiatal kidney polymyalgia disorder adenovirus
    reactivation tb hfref gold pneumothorax seizure seizures asthmatic obesity dementia
    schizophrenia alendronic acid penicillin sulfa latex lung liver stomach brain skin bone
    bronquiectasias intolerancia rotatorio repeticion vasculares perimetro donante diabetica
    diabetico basocelular nodular malar preeclampsia eclampsia vacunas tiritona perruna estridor
    falciparum aspergillus fumigatus aeruginosa aureus anestesico segmento lavado balon aparato
    infecciosas semanales semanal ait idm sylvien ischemique hemorragique rhumatoide evoluant ald
    morphologie anomalie calleux placenta vaisseaux patiente compte rendu passage diagnostiquee
    diagnostique mif das28 clarte nucale ehpad ssr initial ulcus ventriculi gastrointestinale
    apoplex vorhofflimmern teerstuhl innenmeniskusriss arthroskopie brustkrebs
    psychotherapeutischer bericht lungenkrebs darmkrebs herzinfarkt herzinsuffizienz
    niereninsuffizienz rheuma gicht osteoporose bandscheibenvorfall zuckerkrankheit bluthochdruck
    depressive storung nefropatia carpale tunnel colica idronefrosi colicistite calcolosi gastrite
    emorragico isquemico fibrinolise ossea retorno rest bypass graft amputation pod bka lyme
    escleroderma esclerosis lupus eritematoso fibromialgia celiaca celiaco hemofilia talasemia
    drepanocitosis sarcoidosis silicosis asbestosis bronquial rinitis sinusitis faringitis
    amigdalitis laringitis cistitis pielonefritis prostatitis orquitis vaginitis cervicitis
    endometriosis mioma miomas polipo polipos diverticulos diverticulitis hemorroides fisura
    fistula estenosis reflujo gastritis esofagitis duodenitis coxalgia gonalgia escoliosis cifosis
    espondilitis discal hernias tendinitis bursitis fascitis taquicardia bradicardia arritmia
    flutter bloqueo pericarditis endocarditis miocarditis aneurisma hipoglucemia hiperglucemia
    cetoacidosis deshidratacion hiponatremia hiperpotasemia acidosis alcalosis ifi nine dlco tacar
    arteriel arterielle arteriosa thoracique apyretique hospitalise hospitalisee genese
    druckschmerzhaft abwehrspannung sonographisch gallensteine gallenstein ductus choledochus
    pankreatitis schleimhaut rontgen rontgenbild stationar ambulant hypertensie appendix
    laparoscopische laparoscopisch postoperatieve postoperatief buikpijn koorts hoesten
    kortademigheid bloeddruk voorgeschiedenis medicatie echografie breuk wond breathlessness
    swelling swollen ankle ankles wrist pressure irregular ray effusion effusions pulse oedema
    tenderness bruising bleeding scan ventricle ejection fraction dizziness nausea headache
    grapas rasilis embolie scanner saturation auscultation rales sibilants condensacao
    expectoracao costela ipostenia disartria insorgenza
    ggt hmb melan fish bag brca htt gen wild type rae tep erc bcg msh2 mlh1 pms2 msh6
    """
)
# Drugs, whose names nobody bears.
_BRANDS = words_of(
    """
    kardegic levothyrox coversyl tahor plavix adiro sintrom lasix seguril nolotil enantyum
    augmentine ventolin spiriva primperan ebastel seresta tercian valium doliprane augmentin
    lovenox clexane xarelto eliquis pradaxa entresto lasilix risordan brilique novalgin torem
    ibuprofen nurofen aspirin aspirina tylenol coumadin toprol lexapro adderall zosyn versed
    levophed narcan dilaudid humalog lantus novorapid calpol brufen humira colchicine femara
    sterdex vismed xalatan infanrix prevenar bexsero dalsy jext toradol bactrim tapazole pantorc
    cardioaspirin tazocin flixotide broncovaleas aircort buscopan konakion minirin victan dipirona
    tramal depakine sinemet modopar sifrol azilect leponex aricept rimstar benerva duphalac
    gelocatil rivotril orfidal trankimazin inacid urbason pulmicort symbicort atrovent voltaren
    zyloric crestor zocor lipitor norvasc amlor lopressor laroxyl cortancyl speciafoldine previscan
    contramal renvela losartana glifage sinvastatina methotrexate metotrexato betahistina codeina
    tiamina piridoxina tetrabenazina doxycycline prednisolone
    """
)
# Surnames and places, too, as a word with a capital of fewer letters may be.
_BORNE = words_of(
    "izquierdo izquierda derecho derecha corazon cerebral lateral coronaria segmento"
)
_LEAST = 7  # letters
# A record of a patient has four of these at least.
_PATIENT = tuple(
    re.compile(source, re.IGNORECASE)
    for source in (
        r"\d ?(?:mg|mcg|[µμ]g|ml|UI|IU)\b",
        r"\b(?:mg|g|ng|U|UI|mmol|mEq|[µμ]mol)/(?:d?l|ml|mol|24 ?h)\b|\bmmHg\b|\b(?:lpm|bpm)\b"
        r"|/mm3",
        r"\b(?:antecedentes|anamnesis|exploraci[óo]n|diagn[óo]stico|tratamiento"
        r"|juicio cl[íi]nico|enfermedad actual)\b",
        r"\b(?:ant[ée]c[ée]dents|examen clinique|compte[- ]rendu|traitement|ordonnance"
        r"|certificat médical|hospitalis\w{1,6})\b",
        r"\b(?:anamnese|befund|diagnosen?|therapie|entlassung\w{0,8}|op-bericht|station[äa]re\w?"
        r"|attest)\b",
        r"\b(?:anamnesi|referto|ricover\w{1,4}|dimission\w|esame|terapia|prognosi|diagnosi)\b",
        r"\b(?:internamento|alta|exame|queixa|hda|prontu[áa]rio|utente|doente|paciente)\b",
        r"\b(?:chief complaint|history of present illness|hpi|discharge|preoperative|impression"
        r"|diagnos[ie]s|medications?"
        r"|specimen|biopsy|admitted)\b",
        r"\b(?:paciente|paziente|patient(?:e|in|en)?|pt\.?|pat\.|paz\.)(?!\w)",
        r"\b(?:rx|tac|tc|rm|rmn|ecg|ekg|eco|irm|mrt|ct|ecograf[íi]a|biopsia|radiograf[íi]a"
        r"|hemograma|anal[íi]tica|scanner)\b",
        r"\b(?:apgar|glasgow|gcs|barthel|karnofsky|ecog|asa|nyha|babinski|romberg|murphy|tnm"
        r"|pT\d)\b",
        r"\b(?:servicio|service|klinik|reparto|servi[çc]o|department|unit[àé]?|unidad) (?:de|di"
        r"|für|of|d['’]|operativa)",
        r"\b(?:m[ée]dico|m[ée]dica|m[ée]decin|arzt|[äa]rztin|dr|dra|infermier\w|enfermer\w)\b",
        r"\b(?:échelle|score|indice|escala|índice|scala|skala|échographie|ecograf[íi]a|\w{3,12}"
        r"(?:ologue|ólog[oa]))\b",
        r"\b(?:dosis|comprimidos?|gouttes|gotas|cp|i\.?v\.?|v\.?o\.?|sc|im|cada \d{1,2} ?h)\b",
    )
)
_ENOUGH = 4

_SMALL = FUNCTION_WORDS | words_of(
    """
    de del la las el los lo le les l d des du un una unos unas une uno y e o u en a al con sin por
    para que se su sus desde hasta entre sobre segun como cada tras ante et ou au aux dans sur sous
    par pour avec sans chez lui elle il ils son sa ses ce cette qui jusqu di della dello dei degli
    gli i da dal nel nella per tra fra ed do dos das no na nos nas um uma com sem der die den dem
    ein eine einer eines und oder mit von zu zum zur im in am bei seit bis nach vor fur auf vers
    depuis dia mes ano jour
    """
)


def is_of_patient(text: str) -> bool:
    """Tell if a text is the record of a patient, by its headings, units and words.

    >>> is_of_patient("Paciente con dolor. TA 120/80 mmHg. Exploración: normal. Omeprazol 20 mg.")
    True
    >>> is_of_patient("Call the patient at ten.")
    False
    """
    return sum(clue.search(text) is not None for clue in _PATIENT) >= _ENOUGH


def drop_impersonal(
    text: str, findings: Iterable[Span], own: Collection[str] = ()
) -> tuple[Span, ...]:
    """Return the findings without what names nobody (see the module), in the order given.

    >>> drop_impersonal("signo de Babinski", [Span(9, 17, "PERSON")])
    ()
    >>> drop_impersonal("Sr. Babinski", [Span(4, 12, "PERSON")])
    (Span(start=4, end=12, type='PERSON'),)

    Args:
        own: types that the operator named, of which every finding counts.
    """
    findings = tuple(findings)
    types = _TYPES.difference(own)
    if not any(span.type in types for span in findings):
        return findings
    patient = is_of_patient(text)
    places = sorted(_find_phrases(text, patient))
    ends = _reach(places)
    return tuple(
        left
        for span in findings
        for left in (_leave(text, span, places, ends, patient) if span.type in types else (span,))
    )


def _find_phrases(text: str, patient: bool) -> Iterator[tuple[int, int, frozenset[str]]]:
    """Yield the places of phrases that name nobody, with the types that may be found there."""
    yield from _find_eponyms(text, patient)
    counted = _COUNTED | _NAMED - {"PERSON", "NAME"} | {"DEMOGRAPHIC"}
    measures = (_MEASURE, _ANALYTE, _DOSING, _PERCENT) if patient else ()
    phrases = (*((_DEPARTMENT,) if patient else ()), _LABEL, _COURT, _ACTING)
    for patterns, types in ((measures, counted), (phrases, _TYPES)):
        for pattern in patterns:
            for match in pattern.finditer(text):
                yield *match.span(), types
    court = _OF_COURT.search(text) is not None
    for match in _LEADING.finditer(text) if patient or court else ():
        yield *match.span(), _NAMED
    for match in _MISTER.finditer(text) if court or (patient and "Mme" in text) else ():
        yield *match.span(), _NAMED
    if _STATUTE_CLUE.search(text):
        for match in _STATUTE.finditer(text):
            yield *match.span(), _TYPES - {"NAME", "PERSON"}


_SIGNS = words_of("allen hoffmann hoffman moro murphy weber thomas patrick")  # in an examination


def _find_eponyms(text: str, patient: bool) -> Iterator[tuple[int, int, frozenset[str]]]:
    for match in _RUN.finditer(text):
        start, end = match.span()
        before = text[max(0, start - _FRAMED_REACH) : start]
        rare, borne = _weigh(match[0])
        if borne or _TITLED.search(before):
            continue
        framed, alone = _FRAMED.search(before), not _NAME_BEFORE.search(before)
        if framed and (rare or _SURE_FRAME.match(framed[0])):
            yield start - len(before) + framed.start(), end, _TYPES
        elif (thing := _THING.match(text, end)) and (alone or _SENTENCE.search(before)):
            if rare or _SURE_THING.search(thing[0]):
                yield start, thing.end(), _TYPES
        elif alone:
            judged = rare or (patient and fold_name(match[0]) in _SIGNS)
            after = (judged and _JUDGED.match(text, end)) or (rare and _VALUED.match(text, end))
            if after:
                yield start, after.end(), _TYPES


_DISEASES = frozenset(("Addison", "Gilbert", "Mallory", "Wilson"))  # more often than people


def _weigh(names: str) -> tuple[bool, bool]:
    """Tell if one of the names of an eponym is neither a given name nor a surname of many people,
    and if all are given names."""
    words = [word for word in _WORD.findall(names) if word[0].isupper()]
    given = [is_given(word) for word in words]
    common = [fold_name(word) in _COMMON for word in words]
    rare = not all(map(any, zip(given, common, strict=True)))
    return rare, all(given) and not any(word in _DISEASES for word in words)


def _reach(places: Sequence[tuple[int, int, frozenset[str]]]) -> int:
    """Return the length of the longest phrase."""
    return max((end - start for start, end, _ in places), default=0)


def _leave(
    text: str,
    span: Span,
    places: Sequence[tuple[int, int, frozenset[str]]],
    longest: int,
    patient: bool,
) -> Iterator[Span]:
    """Yield what is left of a finding; each line counts by itself."""
    if span.type == "TITLE":
        titled = _TITLE.match(text, span.start) is not None
        if not titled or not (patient or _OF_COURT.search(text)):
            yield span
        return
    if span.type == "STREET_ADDRESS" and _DOCTOR.search(text, span.start, span.end):
        return
    first = bisect_left(places, span.start - longest, key=lambda place: place[0])
    start, pieces = span.start, []
    for low, high, types in places[first:]:
        if low >= span.end:
            break
        if high <= start or span.type not in types:
            continue
        if low > start:
            pieces.append((start, low))
        start = max(start, high)
    if start < span.end:
        pieces.append((start, span.end))
    lines = [line for piece in pieces for line in _cut_lines(text, *piece)]
    if span.type in _MEDICINE:
        lines = [_trim(text, *line, span.type) for line in lines]
    kept = [line for line in lines if _may_be_somebodys(text, *line, span.type, patient)]
    if len(kept) == len(lines) and pieces == [(span.start, span.end)]:
        if len(lines) == 1:
            yield Span(*lines[0], span.type)
        else:
            yield span
        return
    for start, end in kept:
        words = [*_WORD.finditer(text, start, end)]
        little = _list_little(text, words, [fold_name(word[0]) for word in words], span.type)
        told = [word for word, is_little in zip(words, little, strict=True) if not is_little]
        if told and not all(len(word[0]) == 1 and not word[0].isupper() for word in words):
            yield Span(told[0].start(), told[-1].end(), span.type)


def _cut_lines(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while (cut := text.find("\n", start, end)) >= 0:
        if start < cut:
            yield start, cut
        start = cut + 1
    if start < end:
        yield start, end


# Before and after what is told.
_EDGES = EVERYDAY - FUNCTION_WORDS
_ENGLISH_EDGES = words_of("and of to or for with at by from")
_GRAMMAR = frozenset().union(*GRAMMAR.values())
# Beside the name of a person only words of grammar, none that is a particle: op den Camp.
_NAME_EDGES = (
    frozenset(word for word in _GRAMMAR if len(word) > 3)
    | words_of("and of for with at by from und con mit met est ist")
) - (
    PARTICLES
    | AFTER_PARTICLES
    | words_of("onder over voor unter della dello delle degli dalla dallo dagli dalle")
)
# Directly before what somebody is called.
_TITLE_BEFORE = re.compile(
    rf"(?<!\w)(?i:{WRITTEN_TITLE}|rev|reverend|hon|dra|col|gen|maj|cpl|pvt|insp|sir|lady|lord|dame"
    r"|don|doña|dona|meester|docteur|doctora?|doutora?|doktor|dottore|dottoressa|professeur"
    r"|professore|professora?|mme?s|mmes|messrs|mesdames|messieurs|herren|familie|vs|v|st|me|pr"
    r"|madam|ma['’]am|profesora?|maestr[oa]|patiente?|paciente|paziente)"
    r"\.?(?:ª|ssa|ra)?[ \xa0\t]{1,3}\Z"
)
_WORD_BEFORE = re.compile(r"([^\W\d_]{1,30})\.?[ \xa0\t-]{1,3}\Z")
_CALLED_REACH = 36
_ARTICLE_BEFORE = re.compile(
    r"(?<!\w)(?:a|o|as|os|um|uma|la|las|los|les|une?|una|uno|il|gli|l['’]|het|een|da|do|na|no|della"
    r"|del|alla|nella|das|eine?)(?:[ \xa0]|(?<=['’]))\Z"
)
_IN_BEFORE = re.compile(r"(?<!\w)(?:in|im|en|em|dans|nel|de|di)[ \xa0]\Z")
_JUDGED_BEFORE = re.compile(r"(?<!\w)(?i:de[rmns]|die|das|vom|zum|zur|im)[ \xa0]\Z")
_AROUND = 120  # characters, in which a text shows its language


def _is_called_by(text: str, start: int) -> bool:
    """Tell if what begins at a place stands directly behind a title or a given name."""
    before = text[max(0, start - _CALLED_REACH) : start]
    if _TITLE_BEFORE.search(before):
        return True
    word = _WORD_BEFORE.search(before)
    if word is None:
        return False
    small = word[1].lower()
    return is_given(small) and small not in _GRAMMAR and small not in FUNCTION_WORDS


def _is_spoken(text: str, word: re.Match[str], *, person: bool = False) -> bool:
    """Tell if an everyday word is one of the language of the words around it: in English,
    `Camino` is somebody."""
    small = word[0].lower()
    before = text[max(0, word.start() - _AROUND) : word.start()]
    around = {
        other
        for other in _WORD.findall(before + " " + text[word.end() : word.end() + _AROUND])
        if other.islower() and other != small
    }
    english, around = around & FUNCTION_WORDS, around - FUNCTION_WORDS
    counts = {language: len(around & words) for language, words in LANGUAGES.items()}
    return any(
        small in LANGUAGES[language]
        and count == max(counts.values())
        and count > len(english - LANGUAGES[language])
        and (not person or not GRAMMAR[language].isdisjoint(around))
        for language, count in counts.items()
    )


def _is_little(text: str, word: re.Match[str], type_: str) -> bool:
    """Tell if an everyday word in small letters tells nothing of somebody. A person may be
    written so, too: `mein nachbar stark`."""
    small = word[0]
    if small not in EVERYDAY or small in _SURNAMES_TOO or _is_called_by(text, word.start()):
        return False
    person = type_ in ("NAME", "PERSON")
    if type_ in _NAMED and small not in _GRAMMAR:
        before = text[max(0, word.start() - 8) : word.start()]
        if not (_ARTICLE_BEFORE.search(before) or (not person and _IN_BEFORE.search(before))):
            return False
    return _is_spoken(text, word, person=person)


# Before a name, in the languages in which it is no part of the identity that is drawn.
_ADDRESS = re.compile(
    r"(?:ª\s+)?(?:(?:la|el|le|il|de|den|der|die|dem)\s)?"
    r"(?i:herrn?|heer|mevrouw|meneer|monsieur|madame|mesdames|messieurs|mademoiselle|maître|signora?"
    r"|signorina|sig(?:\.ra)?|senhora?|señora?|sra?|dott(?:\.ssa)?|collega|confrère|spett\.le|attn)"
    r"\.?\s+(?:D\.\s+)?(?=[^\W\d_a-zß-ÿ])"
)
_ADDRESS_ALONE = words_of(
    "maître maitre monsieur madame herr herrn frau signora signor signore senhor senhora mrs mr"
)
_ADDRESSES_BORNE = words_of("maître maitre herr")  # surnames, too
_ADDRESSED = re.compile(r"!|[ \xa0][^\W\d_a-zß-ÿ]")
# What follows a name, of a degree or a membership: Imogen Tarrant RVN.
_AFTER_NAME = re.compile(
    r",? (?:\((?:Mrs|Mr|Ms|Miss|Dr)\)?|(?:BSc|MSc|MBA|PhD|DPhil|LLB|LLM|DDS|RVN|RGN|CPA|CFA|ACCA"
    r"|FCA|MRICS|FRICS|MRCVS|MRCP|FRCP|FRCS|MRCGP|OBE|MBE|CBE|Esq))\Z"
)


def _trim(text: str, start: int, end: int, type_: str) -> tuple[int, int]:
    """Return the place of a piece without what stands at its ends and tells nothing of somebody:
    everyday words, titles, parties of a trial: `somme de 700 euros`, `signora Iolanda`."""
    person = type_ in ("NAME", "PERSON")
    if person or type_ == "ORGANIZATION":
        if address := _ADDRESS.match(text, start, end):
            start = address.end()
        if after := _AFTER_NAME.search(text, max(start + 1, end - 12), end):
            end = after.start()
    words = [*_WORD.finditer(text, start, end)]
    cased = not all(word[0].islower() for word in words)
    first, last = 0, len(words)
    while first < last and _tells_nothing(text, words[first], type_, cased):
        if not text[words[first].end() : words[first].end() + 1].isspace():  # ora.ai
            break
        if person and (first + 1 == last or words[first + 1][0].islower()):  # or cohen
            break
        first += 1
    while first < last and _tells_nothing(text, words[last - 1], type_, cased):
        if not text[words[last - 1].start() - 1].isspace():
            break
        if person and (first + 1 == last or words[last - 2][0].islower()):
            break
        last -= 1
    if first == last or (first == 0 and last == len(words)):
        return start, end
    return (
        words[first].start() if first else start,
        words[last - 1].end() if last < len(words) else end,
    )


def _tells_nothing(text: str, word: re.Match[str], type_: str, cased: bool) -> bool:
    """Tell if a word at the end of a finding is an everyday one, or says who somebody is in a
    trial, and nobody is called by it: `cased` if names have capitals in the finding."""
    small = word[0]
    side = fold_name(small) in _SIDES and small.lower() not in ("klager", "klagers")
    if type_ in ("NAME", "PERSON"):
        known = side or small in _NAME_EDGES
        return known and not _is_called_by(text, word.start())
    if type_ not in _NAMED:
        return side or (small in _EDGES and not _is_called_by(text, word.start()))
    if small in _ENGLISH_EDGES:
        return True
    if side:
        return not _is_called_by(text, word.start())
    if small not in _EDGES or _is_called_by(text, word.start()):
        return False
    return cased or (len(small) > 3 and small in _GRAMMAR and _is_little(text, word, type_))


def _may_be_somebodys(text: str, start: int, end: int, type_: str, patient: bool) -> bool:
    """Tell if the words of a piece of a finding may be somebody's."""
    words = [*_WORD.finditer(text, start, end)]
    if not words:
        return True
    if _is_called_by(text, start) and not any(map(str.isdigit, text[start:end])):
        return True
    if type_ == "PERSON" and len(words) == 1 and words[0][0].lower() in _ADDRESS_ALONE:
        return words[0][0].lower() in _ADDRESSES_BORNE and not _ADDRESSED.match(text, end)
    if len(words) == 1 and type_ in _NAMED and _opens_sentence(text, words[0], type_):
        return False
    if _HOST.fullmatch(text, start, end):  # ora.ai
        return True
    if type_ == "ORGANIZATION" and _is_post(words):
        return False
    plain = [fold_name(word[0]) for word in words]
    little = _list_little(text, words, plain, type_)
    if all(little):
        return False
    if type_ in _MEDICINE and all(
        is_little or _is_party(text, word, small, type_, any(little))
        for word, small, is_little in zip(words, plain, little, strict=True)
    ):
        return False
    told = patient and type_ in _MEDICINE
    return not (told and _is_medicine(text, words, plain, little, type_))


def _list_little(
    text: str, words: Sequence[re.Match[str]], plain: Sequence[str], type_: str
) -> list[bool]:
    """Tell of each word if it is an article, a preposition or the like: in small letters, or in a
    heading, which is in capitals."""
    heading = len(words) > 2 and text[words[0].start() : words[-1].end()].isupper()
    named = type_ in _NAMED
    return [
        (small in _SMALL and (heading or word[0].islower()))
        or _is_little(text, word, type_)
        or (not named and len(small) >= _LEAST and _is_spoken(text, word, person=True))
        or (word[0].isupper() and small in _HEADINGS and (not named or _is_heading(text, word)))
        for word, small in zip(words, plain, strict=True)
    ]


def _is_heading(text: str, word: re.Match[str]) -> bool:
    """Tell if all words of the line of a word are of headings, and one of them is nobody's
    surname."""
    start = text.rfind("\n", max(0, word.start() - 60), word.start()) + 1
    end = text.find("\n", word.end(), word.end() + 60)
    if (start == 0 and word.start() > 60) or (end < 0 and len(text) - word.end() > 60):
        return False
    line = [fold_name(other) for other in _WORD.findall(text[start : end if end >= 0 else None])]
    return all(other in _HEADINGS or other in _SMALL for other in line) and not all(
        other in _HEADINGS_BORNE or other in _SMALL for other in line
    )


_MEDICINE = _NAMED | {"DATE_TIME", "DEMOGRAPHIC", "ID", "NRP", "QUANTITY"}


# What somebody is in a firm, and what they are it of: Head of Supply Chain, Claims Department.
_POSTS = words_of(
    """
    accountant administrator advisor adviser analyst assistant associate buyer ceo cfo cio coo
    cto coordinator consultant controller department desk developer director engineer executive
    handler head intern lead leader manager officer owner partner planner president principal
    receptionist representative secretary specialist supervisor technician trainee treasurer vp
    leiter leiterin teamleiter teamleiterin abteilung geschäftsführer geschäftsführerin
    sachbearbeiter sachbearbeiterin assistenz directeur directrice responsable chargée chef
    assistante responsabile direttore direttrice impiegata impiegato jefa jefe encargada
    encargado directora gerente diretora diretor gestora gestor hoofd directeur medewerker
    teamlead reparto
    """
)
_FIELDS_OF_WORK = words_of(
    """
    buchhaltung einkauf vertrieb personal verwaltung finanzen controlling marketing entwicklung
    clientèle commerciale commercial réclamations comptabilité ventes achats commerciale vendite
    acquisti ventas compras cocina inkoop verkoop administratie hr it regulatory
    """
)


def _is_post(words: Sequence[re.Match[str]]) -> bool:
    """Tell if words that are found as a firm say what somebody is in one: a post and ordinary
    words."""
    small = [word[0].lower() for word in words]
    return (
        1 < len(small) < 5
        and not _POSTS.isdisjoint(small)
        and all(
            word in _POSTS
            or word in _FIELDS_OF_WORK
            or (
                (is_everyday(word) or (is_ordinary_word(word) and not is_given(word)))
                and word not in _SURNAMES_TOO
                and word not in _COMMON
            )
            for word in small
        )
    )


_HOST = re.compile(r"[a-z\d-]{2,60}(?:\.[a-z\d-]{2,60}){1,4}")


def _opens_sentence(text: str, word: re.Match[str], type_: str) -> bool:
    """Tell if a word of grammar has its capital from the sentence or the line that it opens:
    `Domani sono a Torino`. An everyday noun may be somebody's name there, and in a text of another
    language any word. A comma or a colon may follow who is called."""
    small = word[0].lower()
    if small not in _GRAMMAR or len(small) < 4 or is_given(small) or small in _SURNAMES_TOO:
        return False
    if type_ == "ORGANIZATION" and _NAMED_AFTER.match(text, word.end()):
        return False
    if _GOES_ON.match(text, word.end()) is None:
        return False
    before = text[max(0, word.start() - _CALLED_REACH) : word.start()]
    opening = _OPENS.search(before)
    if opening is None or _ABBREVIATED.search(before):
        return False
    return _is_spoken(text, word, person=True)


_OPENS = re.compile(r"(?:\A|[.!?] ?|\n)\Z")
# A dot that ends no sentence: a title, an initial, a short word with a capital, no vowel.
_ABBREVIATED = re.compile(
    rf"(?<!\w)(?:(?i:{WRITTEN_TITLE})|[^\W\d_a-zß-ÿ][^\W\d_]{{0,4}}|(?i:[b-df-hj-np-tv-z]{{1,5}}))"
    r"\. ?\Z"
)


# Everyday words that people are also called by.
_SURNAMES_TOO = words_of(
    """
    grand grande gros haut noir vert bon fort juste maison bald gut lieb hoch alt neu kalt stark
    wahr frei fest rund weit schnell schön sicher dünn voll bello bueno buen buono forte bravo
    costa campo casa serra leal salvo certo conte cabeza suelo sierra vrij oud oude goede hoog
    vast warm wijze stap ster stem loop mooi bom justo junge jungen klar krank clair camino court
    bras broek droit chemin main base point alte alten besten bon bonne bord beau bruit cadre calme
    cause cher cite clef cours cour double doux faure fond forme garde gare gars grave image jeune
    jour lettre libre ligne loi loin lourd maitre mal marche mois mort mot page pain paix papier
    parent part petit petite pied place plan plein pont porte prix rouge rue sac saint salle salon
    second sens simple soir soleil table temps tendre terre titre tour toit tranquille travers
    triste vague vent vieux village ville vive voie voisin voix vrai frais franc blau blauen bitter
    dick ernst falsch fern frueh früh frühe ganz gern gerne groß große großer jung kamen klein
    kleine kleinen krumm kurz lahm lang lange laut leer leicht licht liebe links recht rechts reich
    ruhig scharf schlecht schwer selten spät streng stand starke trug teil teuer treu weiß wenig
    wild wind wohl zahl alta alto bajo barrio bello bella blanco caballero cabo calle cama cara
    carta castro cierto claro conde cordero corral correa cruz cuadro cuesta delgado diez dios
    duro feliz fiel flor franco fuerte fuente gallo gordo guerra hermosa hierro hoyo iglesia lado
    lago largo leon llano luna luz madera mano mar marca mesa monte moreno moro nieto nieve noche
    paz pena perez piedra pino plaza pozo prado puerta pueblo punto real rey reina rico rio rojo
    rosa rubio sala santo seco toro torre trigo vaca valle vega verde viejo vida villa basso bianco
    caro chiesa colle corte dolce dolore festa fiore fonte fontana fuoco gallo gatto gentile giusto
    grasso greco guerra lungo luce luna male mare marino mano monte morte motta nero notte occhi
    pace pane parola passo piano piazza piccolo pieno porta primo ricco riva rosso salute sangue
    santo segno sera sole strada tempo terra testa torre valle vecchio vento vero via vita voce
    zona amado bela belo branco barros braga cabral caminho chaves coelho direito faria fonseca
    leitão lima linhares loureiro mata matos medeiros meira melo meireles moura neves novo paixão
    pereira pinto ponte portela praça prado queiroz ramos reis ribeiro rocha roxo salgado sá
    teixeira vale velho viana bakker berg blok bos boer boom brand dam dijk haas hand hof huis jong
    kamp kok klein koning kort kuiper licht lang markt meer mulder muur punt rood school schaap
    weil ante aller alles immer unter echter acaso dele esse essa esta toda todo haar want mein
    smit spel stad steen tafel tuin veld vis visser vos water weg wit wolf zand zee zwart
    """
)
_GOES_ON = re.compile(r" [a-zß-ÿ0-9]")
_NAMED_AFTER = re.compile(r" (?:de|du|des|di|del|della|do|da|van|der|für) ")  # Clinique du Parc


# Of the parts of a curriculum vitae, a report or a form, which stand in capitals.
_HEADINGS = words_of(
    """
    agenda actions apologies background confidential contact description education employment
    executive experience hobbies interests introduction invoice languages minutes notes objective
    overview profile qualifications references schedule skills summary training ausbildung
    berufserfahrung kenntnisse hobbys interessen lebenslauf referenzen sprachen zeugnis rechnung
    experience experiences professionnelle professionnelles personnel competences diplomes
    formation langues loisirs profil assignation devant ayant avocat contre demandeur facture
    experiencia laboral formacion academica idiomas aficiones referencias habilidades perfil
    contrato reunidos exponen clausulas informe alta servicio traumatologia nota resumen factura
    esperienza lavorativa istruzione formazione competenze lingue interessi referto lettera
    experiencia formacao academica relatorio medico ervaring opleiding vaardigheden talen
    ontslagbrief verslag notulen namen volkes court county claim particulars between
    """
)
# Of them, those that somebody may be called.
_HEADINGS_BORNE = words_of(
    "court county claim alta devant nota notes profil perfil training contrato names namen actions"
    " agenda contre formation languages lettera skills minutes services servicio volkes between"
)
_SIDES = words_of(
    "klager klagerin klagers beklagte beklagten beklagter antragsteller antragstellerin demandeur"
    " demanderesse defendeur defenderesse requerant requerante claimant defendant plaintiff"
    " zinsen kaufpreises zivilkammer"
)
_SURE_PARTIES = frozenset(("klage", "kläger", "urteil"))  # hardly surnames, though short


def _is_party(text: str, word: re.Match[str], small: str, type_: str, phrase: bool) -> bool:
    """Tell if a word says who somebody is in a trial, or is of its headings: in those, which are
    phrases in capitals, also one that somebody may be called."""
    if small not in _PARTIES:
        return False
    if type_ not in _NAMED or word[0].islower() or (phrase and word[0].isupper()):
        return True
    if _is_called_by(text, word.start()):
        return False
    if word[0].lower() in _SURE_PARTIES:  # behind an article only
        before = text[max(0, word.start() - 8) : word.start()]
        return _JUDGED_BEFORE.search(before) is not None
    return len(small) >= _LEAST


def _may_be_borne(word: str, small: str) -> bool:
    """Tell if a word may be somebody's name, too: it has a capital, and is short. Abbreviations
    and the names of drugs are none."""
    if word.islower() or small in _BRANDS or (word.isupper() and len(word) < 6):
        return False
    return len(small) < _LEAST or small in _BORNE


def _has_ending(word: str, small: str, type_: str) -> bool:
    """Tell if a word ends as those of medicine do; a name with a capital may, too."""
    ended = word.islower() or type_ not in _NAMED
    return bool(_DRUG.fullmatch(small) or (ended and _ENDING.fullmatch(small)))


_TITLE = re.compile(
    r"(?i:mr|mrs|ms|miss|mx|dra?|prof|herr|frau|monsieur|madame|mmes?|mlles?|sra?|srta|señor(?:a"
    r"|ita)?"
    r"|don|doña|signora?|dott)(?!\w)\.? {1,2}[^\W\d_a-zß-ÿ]"
)
_AMONG = re.compile(r"(?:[a-zà-ÿ],|\b(?:y|e|et|und|and|con|avec|with)) \Z")  # other illnesses
# No drive: `1 mois. Copie au Dr Puyol`.
_DOCTOR = re.compile(
    r" (?:au|du|le|par|com o|ao|con el|con la|al|del|el|do|da|o|beim|vom|dem|der|Hausarzt|il"
    r"|dal) Dra?\.?\Z"
)
_COUNT = re.compile(r"\d{1,3}|[IVX]{1,4}[ab]?|[A-D]")
_DOSED = frozenset(("DEMOGRAPHIC", "LOCATION", "ORGANIZATION", "QUANTITY"))


def _is_medicine(
    text: str,
    words: Sequence[re.Match[str]],
    plain: Sequence[str],
    little: Sequence[bool],
    type_: str,
) -> bool:
    """Tell if all words are of medicine, small ones or a department."""
    if _FIELD_ALONE.fullmatch(text, words[0].start(), words[-1].end()):
        return _FIELD_HEAD.search(text, words[0].start(), words[-1].end()) is not None
    if any(is_given(word[0]) and not word[0].islower() for word in words):
        return False
    known = False
    for word, small, is_little in zip(words, plain, little, strict=True):
        if is_little or (known and small in _PARTIES):
            continue
        if type_ == "DEMOGRAPHIC" and small in ("alzheimer", "parkinson"):
            before = text[max(0, word.start() - 8) : word.start()]
            if not known and not _AMONG.search(before):
                return False
            known = True
        elif small in _BRANDS or small in _MEDICAL or small.rstrip("s") in _MEDICAL:
            if _may_be_borne(word[0], small):
                return False
            known = True
        elif known and type_ in _DOSED and _COUNT.fullmatch(word[0]):
            continue  # Adiro 100, grado III
        elif not _has_ending(word[0], small, type_):
            return False
        else:
            known = True
    return known
