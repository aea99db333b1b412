"""Phrases of records that name nobody: doses, values of the laboratory, departments, headings and
labels of forms, statutes, courts, and titles.

Where each counts is decided in `nobodys`.
"""

from __future__ import annotations

import re

from perturb.selective.patterns.shape import any_of

__all__ = [
    "ACTING",
    "ANALYTE",
    "COURT",
    "DEPARTMENT",
    "DOSING",
    "FIELD_ALONE",
    "FIELD_HEAD",
    "LABEL",
    "LEADING",
    "MEASURE",
    "MISTER",
    "OF_COURT",
    "PERCENT",
    "STATUTE",
    "STATUTE_CLUE",
]

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
MEASURE = re.compile(rf"(?<![\w.,]){_FIGURES} ?{_UNIT}(?!\w){_PER}")
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
ANALYTE = re.compile(
    rf"(?<![\w-])(?:{any_of(_ANALYTE_LIST)})\+?(?: (?:total|basal|normal|T|I|de|del"
    rf"|:)){{0,2}}[ :=]{{1,3}}"
    r"(?:[<>≤≥~] ?)?\d{1,3}(?:[.,/]\d{1,3}){0,2}(?: ?%)?(?![\w]|[.,/-]\d)"
    r"(?! ?(?:años|ans|anni|anos|aa|years?|yrs?|yo|y/o|Jahre)(?!\w))"
)
# 1-0-0, 1/2-0-1; cada 8 horas, c/12 h, every 6 hours
DOSING = re.compile(
    r"(?<![\w/-])(?:[0-3]|½|1/2)(?:-(?:[0-3]|½|1/2)){2,3}(?![\w-])"
    r"|(?<!\w)(?:cada|c/|every|q|toutes les|alle|ogni|a cada|de)[ ]?\d{1,2}[ ]?"
    r"(?:horas?|h|hours?|hrs?|heures?|Stunden|ore|Std)(?!\w)"
    r"|(?<![\w.,])(?:3[3-9]|4[0-2])(?:[.,]\d)? ?[º°] ?C(?!\w)"
    r"|/ ?\d{1,2} ?(?:h|horas?)(?!\w)|\d{1,2} ?(?:h|horas?)(?=/)"
    r"|(?<!\w)(?:TNM|pT|cT|ypT)?[pcy]?T[is0-4x][a-d]?[12]?(?:[ ,]?[pc]?N[0-3x][a-c]?)"
    r"(?:[ ,]?[pc]?M[01x])?(?!\w)|(?<!\w)p?N[0-3][a-c]?(?!\w)|(?<!\w)G\d ?P\d(?: ?A\d)?(?!\w)"
    r"|(?<!\w)[CTL]\d{1,2}(?:[-–/][CTLS]?\d{1,2})(?!\w)|(?<!\w)C[Dd]\d{1,3}[+−-]?(?!\w)"
)
PERCENT = re.compile(r"(?<![\w.,])\d{1,3}(?:[.,]\d{1,2})? ?%")
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
DEPARTMENT = re.compile(
    rf"(?<!\w){_HEAD}(?: (?:de la|de l['’]|de|d['’]|del|di|of|do|da|für))? ?{_FIELDS}(?!\w)"
)
FIELD_ALONE = re.compile(_FIELDS)
# Of the words for a department, those that are hardly anybody's name.
FIELD_HEAD = re.compile(
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
LABEL = re.compile(
    rf"(?<![\w'’])(?:{_LABEL_PHRASES})(?=[ \t]{{0,2}}(?:[:.;\n(]|\Z)|[ \t]{{1,3}}(?:(?:du|del?"
    rf"|vom|am|do) )?\d)"
)
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
STATUTE = re.compile(
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
STATUTE_CLUE = re.compile(
    r"§|[Aa]rt|[Ss]ection|[Ll]o?ei?y?|[Ll]egge|[Dd]\.|[Cc][oó]d|BGB|ZPO|StGB|SGB"
)
COURT = re.compile(
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
ACTING = re.compile(
    r"(?<!\w)(?i:avocate?s? (?:à la cour|au barreau|général(?:e|es)?|aux conseils)"
    r"|experte?s? (?:judiciaires?|près)|conseill(?:er|ère)s? (?:doyen|rapporteur|référendaire)"
    r"|rapporteure? publi(?:c|que)|juge (?:des référés|aux affaires familiales|d['’]instruction)"
    r"|abogad[oa] del estado|richter(?:in)? am \w{4,20}gericht|avvocato generale)(?!\w)"
)
# Before a name, and no part of it.
LEADING = re.compile(
    r"(?<!\w)(?:Me|Mes|Mme|Mmes|Mlle|Monsieur|Madame|Mesdames|Messieurs|Mademoiselle|Maître|"
    r"(?:[Ll]e )?[Dd]octeur|"
    r"(?:[Ll]a )?[Ss]ociété|"
    r"(?:[Ll]e )?[Pp]rofesseur"
    r"|Dr\.? med\.?(?: univ\.)?|Dr|Dra|Drs|Pr|Prof\.? Dr|Prof|Herrn?|Frau|Fr\.|Hr\.|Mrs|Ms|Mr|"
    r"(?:[Ii]l |[Ll]a )?[Ss]ig\.?(?:ra|na)?"
    r"|[Dd]ott\.?(?:ssa|re)?|[Dd]r\.ssa|[Aa]vv|Sra?|Srta|Señora?|Dña|Doña)\.?[ ]{1,2}"
    r"(?=[^\W\d_a-zß-ÿ])"
)
MISTER = re.compile(
    r"(?<=[^\W\d_,;(:] )M\. (?=[^\W\d_a-zß-ÿ][^\W\d_]{2})|(?<=[,;(:] )M\. "
    r"(?=[^\W\d_a-zß-ÿ][^\W\d_]{2})"
)
# Of a court's papers in French or German, which keep the titles of those that they name.
OF_COURT = re.compile(
    r"N° ?RG|RG n°|Portalis|INTIM[ÉE]|APPELANT|DEMANDE(?:UR|RESSE)|D[ÉE]FENDE(?:UR|RESSE)"
    r"|[Pp]ourvoi n°"
    r"|Rôle N°|Attendu, selon|N° Parquet|statuant au contentieux|Inédit au recueil"
    r"|ASSIGNATION|PROC[ÈE]S-VERBAL D['’]A|AYANT POUR AVOCAT|IM NAMEN DES VOLKES"
    r"|– (?:Kläger|Beklagte)(?:r|in|n)? –"
)
