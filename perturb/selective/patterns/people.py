"""Find what people are: their nationality, religion and profession, and how they are addressed.

A profession counts where it is said of somebody: `a teacher`, `worked as a nurse`, `ist Lehrer`;
not in `teachers are paid too little` or `the doctor`.
"""

from __future__ import annotations

from perturb.selective.patterns.shape import any_listed, any_of, shape

__all__ = ["PEOPLE", "TITLES"]

TITLES = (
    "mr mrs ms miss mx dr prof sir dame lord lady rev herr frau monsieur madame mme mlle sr sra"
    " mmes mlles melles mm messrs mesdames messieurs cllr cllrs councillor councillors smt shri"
    " esq"
)
_MORE = "srta señor señora señorita don doña signor signora dra judge juez jueza juge richter"

# Nationalities, peoples and religions. Capitals are needed in English alone.
_PEOPLES = """
    Afghan Albanian Algerian American Andorran Angolan Arab Argentine Argentinian Armenian
    Australian Austrian Azerbaijani Azeri Bahraini Bangladeshi Basque Bavarian Belarusian
    Belarussian Belgian Berber Bolivian Bosnian Brazilian Breton British Bulgarian Burmese
    Burundian Cambodian Cameroonian Canadian Castilian Catalan Chechen Chilean Chinese Colombian
    Congolese Corsican Cossack Croat Croatian Cuban Cypriot Czech Czechoslovak Dane Danish
    Dominican Dutch Dutchman Ecuadorian Egyptian Emirati English Englishman Englishwoman Eritrean
    Estonian Ethiopian Fijian Filipino Filipina Finn Finnish Flemish French Frenchman Frenchwoman
    Gambian Georgian German Ghanaian Greek Greenlander Greenlandic Guatemalan Guinean Haitian
    Honduran Hungarian Icelander Icelandic Indian Indonesian Inuit Iranian Iraqi Irish Irishman
    Irishwoman Israeli Italian Ivorian Jamaican Japanese Jordanian Kazakh Kenyan Korean Kosovan
    Kosovar Kurd Kurdish Kuwaiti Kyrgyz Laotian Latvian Lebanese Liberian Libyan Lithuanian
    Luxembourger Macedonian Malagasy Malawian Malaysian Malian Maltese Maori Mauritanian Mauritian
    Mexican Moldovan Moldavian Mongolian Montenegrin Moroccan Mozambican Namibian Nepalese Nepali
    Nicaraguan Nigerian Nigerien Norwegian Omani Pakistani Palestinian Panamanian Paraguayan
    Persian Peruvian Pole Polish Portuguese Qatari Roma Romani Romanian Russian Rwandan Salvadoran
    Sami Sardinian Saudi Scot Scotsman Scottish Senegalese Serb Serbian Sicilian Singaporean
    Slovak Slovakian Slovene Slovenian Somali Spaniard Spanish Sudanese Swede Swedish Swiss Syrian
    Taiwanese Tajik Tamil Tanzanian Tatar Thai Tibetan Togolese Tunisian Turk Turkish Turkmen
    Ugandan Ukrainian Uruguayan Uyghur Uzbek Venezuelan Vietnamese Welsh Welshman Yemeni Yugoslav
    Zambian Zimbabwean African Asian European Scandinavian Caribbean Hispanic Latino Latina
    Afro-Caribbean Muslim Moslem Christian Catholic Protestant Orthodox Jew Jewish Buddhist Hindu
    Sikh Lutheran Calvinist Anglican Methodist Baptist Presbyterian Mormon Quaker Alevi Sunni Shia
    Shiite Shi'ite Atheist Agnostic
"""
_PEOPLES_ELSEWHERE = """
    deutsche deutscher deutschen deutsches österreicher österreicherin österreichische
    österreichischer österreichischen schweizer schweizerin schweizerische türke türkin türkische
    türkischer türkischen pole polin polnische polnischer polnischen franzose französin
    französische französischer französischen italiener italienerin italienische italienischer
    spanier spanierin spanische spanischer engländer engländerin britische britischer russe russin
    russische russischer ukrainer ukrainerin ukrainische ukrainischer syrer syrerin syrische
    syrischer afghane afghanin afghanische iraker irakerin irakische kurde kurdin kurdische kroate
    kroatin kroatische serbe serbin serbische grieche griechin griechische rumäne rumänin
    rumänische bulgare bulgarin ungar ungarin ungarische tscheche tschechin tschechische
    niederländer niederländerin amerikaner amerikanerin amerikanische chinese chinesin chinesische
    muslimisch muslimische muslimin katholik katholikin katholisch katholische evangelisch
    evangelische jüdisch jüdische français française françaises allemand allemande allemands
    espagnol espagnole italien italienne anglais anglaise britannique belge suisse suissesse
    portugais portugaise polonais polonaise russe ukrainien ukrainienne turc turque turcs algérien
    algérienne marocain marocaine tunisien tunisienne sénégalais sénégalaise ivoirien ivoirienne
    camerounais camerounaise malien malienne syrien syrienne libanais libanaise afghan afghane
    chinois chinoise vietnamien vietnamienne roumain roumaine grec grecque néerlandais
    néerlandaise suédois suédoise irlandais irlandaise américain américaine catholique protestant
    protestante musulman musulmane juif juive español española españoles alemán alemana alemanes
    francés francesa franceses inglés inglesa ingleses británico británica irlandés irlandesa
    italiano italiana portugués portuguesa polaco polaca ruso rusa ucraniano ucraniana turco turca
    turcos kurdo kurda griego griega rumano rumana búlgaro búlgara sueco sueca suecos danés danesa
    noruego noruega finlandés finlandesa holandés holandesa belga suizo suiza austriaco austriaca
    austríaco austríaca húngaro húngara checo checa croata serbio serbia marroquí argelino
    argelina tunecino tunecina senegalés senegalesa nigeriano nigeriana sirio siria iraquí iraní
    afgano afgana chino china colombiano colombiana ecuatoriano ecuatoriana peruano peruana
    boliviano boliviana venezolano venezolana argentino argentina chileno chilena mexicano
    mexicana cubano cubana dominicano dominicana brasileño brasileña estadounidense norteamericano
    norteamericana católico católica protestante musulmán musulmana judío judía
"""
_PROFESSIONS = """
    accountant actor actress actuary administrator advocate agronomist ambassador anaesthetist
    analyst anthropologist apprentice archaeologist architect archivist artist assistant astronaut
    astronomer athlete attorney auctioneer auditor author baker ballet_dancer banker bank_clerk
    barber barista barrister bartender beautician biologist blacksmith bookkeeper botanist boxer
    brewer bricklayer broker builder bus_driver businessman businesswoman businessperson butcher
    butler cabinet-maker cameraman captain cardiologist caretaker carer carpenter cashier caterer
    chauffeur cheesemaker chef chemist chiropractor choreographer civil_engineer civil_servant
    cleaner clergyman clerk coach coachman cobbler colonel columnist comedian commander composer
    computer_programmer conductor construction_worker consultant controller cook coroner
    counsellor courier craftsman curator customs_officer dancer data_scientist dealer dentist
    dermatologist designer detective developer dietician director doctor draughtsman dressmaker
    driver economist editor educator electrician engineer entrepreneur estate_agent evangelist
    executive factory_worker farmer farmhand fashion_designer film_director financier firefighter
    fireman fisherman fishmonger flight_attendant florist footballer foreman forester gardener
    gendarme general_practitioner geographer geologist glazier goldsmith graphic_designer
    greengrocer guard gynaecologist hairdresser handyman headmaster headmistress head_teacher
    health_visitor herdsman historian home_help hotelier house_painter housekeeper housewife
    hunter illustrator imam inspector instructor insurance_agent interpreter inventor investigator
    investor janitor jeweller jockey joiner journalist judge laboratory_technician labourer
    laborer landlord landlady lawyer lecturer librarian lieutenant lifeguard linguist locksmith
    logger lorry_driver lumberjack machinist magistrate maid mailman major manager manicurist
    manufacturer marketer mason masseur masseuse mathematician mayor mechanic medical_assistant
    member_of_parliament merchant meteorologist midwife military_officer miner minister model
    musician nanny neurologist newsreader notary novelist nun nurse nursery_nurse obstetrician
    office_worker officer oncologist operator optician optometrist orthodontist owner
    paediatrician painter paralegal paramedic pathologist pastor pediatrician pensioner pharmacist
    philosopher photographer physician physicist physiotherapist pianist pilot plasterer
    playwright plumber poet police_officer policeman policewoman politician porter postman potter
    preacher priest primary_school_teacher principal printer prison_officer producer professor
    programmer project_manager prosecutor psychiatrist psychoanalyst psychologist psychotherapist
    publican publicist publisher rabbi radiologist railwayman receptionist refugee reindeer_herder
    reporter researcher restaurateur retailer roofer sailor sales_assistant sales_manager salesman
    salesperson saleswoman sales_representative school_teacher schoolteacher scientist sculptor
    seamstress secretary security_guard sergeant servant shepherd shoemaker shop_assistant
    shopkeeper singer social_worker software_developer software_engineer soldier solicitor
    songwriter sportsman staff_nurse statistician steward stewardess stockbroker stonemason
    student surgeon surveyor tailor tattooist taxi_driver teacher teaching_assistant technician
    telephonist therapist tiler tour_guide trader tradesman trainer translator travel_agent
    treasurer truck_driver tutor typist undertaker university_teacher upholsterer urologist
    veterinarian veterinary_surgeon vicar waiter waitress warehouseman watchmaker weaver
    web_designer welder woodcutter worker writer youth_worker zoologist unemployed
"""
_PROFESSIONS_ELSEWHERE = """
    anwalt anwältin apotheker apothekerin architekt architektin arzt ärztin bäcker bäckerin bauer
    bäuerin beamter beamtin bauarbeiter berater beraterin buchhalter buchhalterin dachdecker
    dolmetscher dolmetscherin elektriker elektrikerin erzieher erzieherin fahrer fahrerin
    fleischer fotograf fotografin friseur friseurin gärtner gärtnerin handwerker hausfrau
    hausmeister hebamme informatiker informatikerin ingenieur ingenieurin journalist journalistin
    kaufmann kauffrau kellner kellnerin koch köchin krankenpfleger krankenschwester künstler
    künstlerin landwirt lehrer lehrerin leiter leiterin maler malerin maurer mechaniker metzger
    musiker musikerin notar notarin pfarrer pfarrerin pfleger pflegerin pilot polizist polizistin
    professor professorin programmierer programmiererin psychologe psychologin rechtsanwalt
    rechtsanwältin rentner rentnerin richter richterin schauspieler schauspielerin schlosser
    schneider schneiderin schreiner schriftsteller schriftstellerin sekretär sekretärin soldat
    soldatin steuerberater steuerberaterin student studentin taxifahrer taxifahrerin techniker
    technikerin tierarzt tierärztin tischler übersetzer übersetzerin verkäufer verkäuferin
    zahnarzt zahnärztin arbeitslos agriculteur agricultrice architecte assistant assistante avocat
    avocate boulanger boulangère boucher bouchère chauffeur chirurgien chirurgienne coiffeur
    coiffeuse comptable conducteur conductrice cuisinier cuisinière dentiste directeur directrice
    écrivain écrivaine électricien employé employée enseignant enseignante entrepreneur
    fonctionnaire gendarme gérant gérante infirmier infirmière informaticien informaticienne
    ingénieur ingénieure institutrice instituteur jardinier jardinière journaliste juriste maçon
    mécanicien médecin menuisier militaire musicien musicienne notaire ouvrier ouvrière pharmacien
    pharmacienne peintre plombier policier policière professeur professeure psychologue retraité
    retraitée secrétaire serveur serveuse sage-femme technicien technicienne traducteur
    traductrice vendeur vendeuse vétérinaire étudiant étudiante abogado abogada agricultor
    agricultora albañil ama_de_casa arquitecto arquitecta asistente autónomo bombero camarero
    camarera camionero carnicero carpintero cocinero cocinera comerciante conductor conductora
    contable dentista dependiente dependienta director directora diseñador diseñadora economista
    electricista empleado empleada empresario empresaria enfermero enfermera escritor escritora
    estudiante fontanero fotógrafo fotógrafa funcionario funcionaria ganadero gerente informático
    informática ingeniero ingeniera jardinero jubilado jubilada limpiadora maestro maestra
    mecánico médico médica militar músico obrero obrera panadero panadera peluquero peluquera
    periodista pescador pintor pintora policía profesor profesora psicólogo psicóloga secretario
    secretaria soldado taxista técnico técnica traductor traductora vendedor vendedora veterinario
    veterinaria
"""
_SAID_OF = any_of(
    "a an as former retired qualified unemployed ein eine einen einer als gelernter gelernte",
    "ist war wird un una une comme como es era fue est était soy suis bin am",
    "en_tant_que de_profesión by_profession von_beruf beruf: profession: occupation: job:",
    "profesión: ocupación:",
)
_NOT = any_of(
    "the of and or to in on at by for with his her its their our my that who not be been"
)
_ADJECTIVE = rf"(?!{_NOT}\b)[^\W\d_]{{2,20}}+(?:-[^\W\d_]{{2,20}}+)?"
_PROFESSION = any_of(_PROFESSIONS, _PROFESSIONS_ELSEWHERE)
_NAMED = r"(?-i:[A-ZÀ-ÖØ-ÞŁŚŻŽŠČĐİ])"

_PEOPLES_CLUE = any_listed(_PEOPLES, " ".join(f"{people}s" for people in _PEOPLES.split()))

PEOPLE = (
    shape(
        "NRP",
        rf"(?<!\w)(?=[A-Z]){any_of(_PEOPLES)}s?(?!\w)",
        clue=_PEOPLES_CLUE,
        reach=20,
    ),
    shape(
        "NRP",
        rf"(?<!\w){any_of(_PEOPLES_ELSEWHERE)}(?!\w)",
        case=False,
        clue=any_listed(_PEOPLES_ELSEWHERE),
        reach=20,
    ),
    shape(
        "PROFESSION",
        rf"(?<!\w){_SAID_OF} (?P<part>(?:{_ADJECTIVE} ){{0,2}}?{_PROFESSION})(?!\w)",
        case=False,
        clue=any_listed(_PROFESSIONS, _PROFESSIONS_ELSEWHERE),
        reach=150,
    ),
    shape(
        "TITLE",
        rf"(?<!\w)(?P<part>{any_of(TITLES, _MORE)})\b(?: ?\.)?(?= {{1,2}}{_NAMED}|\n{_NAMED})",
        case=False,
        clue=any_listed(TITLES, _MORE),
        reach=20,
    ),
)
