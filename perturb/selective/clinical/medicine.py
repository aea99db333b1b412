"""Words of medicine: illnesses, examinations, drugs. In the record of a patient they
name nobody.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from perturb.selective.clinical.phrases import FIELD_ALONE, FIELD_HEAD
from perturb.selective.clinical.words import LEAST_SURE, NAMED, PARTIES
from perturb.selective.patterns.given import is_given
from perturb.selective.patterns.shape import words_of

__all__ = ["is_medicine"]

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
_AMONG = re.compile(r"(?:[a-zà-ÿ],|\b(?:y|e|et|und|and|con|avec|with)) \Z")  # other illnesses
_COUNT = re.compile(r"\d{1,3}|[IVX]{1,4}[ab]?|[A-D]")
_DOSED = frozenset(("DEMOGRAPHIC", "LOCATION", "ORGANIZATION", "QUANTITY"))


def _may_be_borne(word: str, small: str) -> bool:
    """Tell if a word may be somebody's name, too: it has a capital, and is short. Abbreviations
    and the names of drugs are none."""
    if word.islower() or small in _BRANDS or (word.isupper() and len(word) < 6):
        return False
    return len(small) < LEAST_SURE or small in _BORNE


def _has_ending(word: str, small: str, type_: str) -> bool:
    """Tell if a word ends as those of medicine do; a name with a capital may, too."""
    ended = word.islower() or type_ not in NAMED
    return bool(_DRUG.fullmatch(small) or (ended and _ENDING.fullmatch(small)))


def is_medicine(
    text: str,
    words: Sequence[re.Match[str]],
    plain: Sequence[str],
    little: Sequence[bool],
    type_: str,
) -> bool:
    """Tell if all words are of medicine, small ones or a department."""
    if FIELD_ALONE.fullmatch(text, words[0].start(), words[-1].end()):
        return FIELD_HEAD.search(text, words[0].start(), words[-1].end()) is not None
    if any(is_given(word[0]) and not word[0].islower() for word in words):
        return False
    known = False
    for word, small, is_little in zip(words, plain, little, strict=True):
        if is_little or (known and small in PARTIES):
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
