"""List the ordinary words that the rules for names need, in several languages."""

from __future__ import annotations

__all__ = [
    "AFTER_PARTICLES",
    "CHATTED",
    "DETERMINERS",
    "DOINGS",
    "GERMAN_DETERMINERS",
    "GERMAN_NOUNS",
    "GERMAN_PREPOSITIONS",
    "INSTITUTIONS",
    "NAME_PARTICLES",
    "OPENERS",
    "ORDINALS",
    "PARTICLES",
    "PHRASES",
    "PREMISES",
    "PREMISES_BORNE",
]


def _words(text: str) -> frozenset[str]:
    """Return the words of a list; a blank inside an entry is written `_`."""
    return frozenset(word.replace("_", " ") for word in text.split())


# Small words inside names.
PARTICLES = _words(
    """
    al bin bint da de degli dei del della dello der di dos du el ibn la le of ten ter van vom von y
    zu zum
    """
)
AFTER_PARTICLES = _words("das dem den het las los")  # Vincent van den Bosch
NAME_PARTICLES = PARTICLES | AFTER_PARTICLES
# Words that open sentences: capitalised there, they are not part of a name.
OPENERS = _words(
    """
    a about after all also although an and any are as at because before both but by can could dear
    did do does during each either for from had has have he hello her here hi his how however i if
    in is it its just last let many may more most my new next no not now of on once one only or
    other our out over please same she should since so some still such than that the their them
    then there these they this those though through to today tomorrow under until up us was we
    were what when where which while who whose why will with without would yes yesterday yet you
    your conversely furthermore interestingly lastly secondly el la los las en por se tras según
    cuando como para con sin sobre entre desde hasta pero si este esta estos estas ese esa su sus
    un una no lo le les des ces cette dans sur avec sans pour selon lorsque quand mais il elle ils
    elles nous vous der die das den dem ein eine einen er sie wir ihr es im am bei mit von vom zu
    zum zur nach vor auf für und oder aber wenn als dieser diese dieses sein seine nicht auch noch
    nur bitte answer ask call check compare contact create describe draft email explain find give
    help list make meet read reply review rewrite see send show summarise summarize tell thank
    thanks translate use visit write
    """
)
# In chats: short forms, and auxiliaries without their apostrophes.
CHATTED = _words(
    """
    arent aint bc btw bruh cant coz couldnt cuz deadass def defo didnt doesnt dont finna fr gonna
    gotta hadnt hafta hasnt havent heres hes highkey hw idk insta im imo isnt istg ive jk jus
    kinda legit lmao lol
    lowkey ngl obvs ofc omg plz pls prob probs prolly rly rlly shes shouldnt smh sorta srsly tbh
    thats theres theyre thru thx tho tryna u ur wanna wasnt werent whats wheres wont wouldnt
    xoxo ya yall yo youre
    """
)
# What somebody's boss, neighbour or doctor does, in German, French and Spanish.
DOINGS = _words(
    """
    antwortet arbeitet baut bekommt beschwert bohrt borgt braucht denkt droht empfiehlt erhöht
    erzählt
    fährt feiert findet fordert fragt geht gibt glaubt grillt grüßt hält hasst hilft hört hustet
    ignoriert isst kennt klaut klingelt kocht kommt kontrolliert kriegt kündigt labert lacht
    lädt lässt
    lästert läuft lebt lehnt leiht liebt liegt lobt lügt macht mag mahnt meckert meint meldet mobbt
    motzt nervt nimmt parkt putzt rät raucht redet ruft sagt schaut schickt schimpft schläft
    schlägt
    schnarcht schreibt schreit schuldet schweigt schwitzt sieht singt sitzt spielt spinnt
    spricht steht
    stellt stinkt stört streikt sucht telefoniert trägt trinkt tut übernimmt überwacht untersucht
    verbietet verdient vergisst verkauft verlangt verschreibt versteht verspricht verweigert wartet
    weigert weint wirft wohnt zahlt zieht zockt
    achète adore aime appelle arrive boit boude change cherche comprend conseille crie critique
    croit
    danse demande dérange déteste discute doit donne dort écoute écrit embête envoie espionne
    explique
    explose exige frappe fume garde gueule harcèle hurle ignore insulte joue juge laisse lit
    loue mange
    menace ment met oblige opère oublie paie parle part passe pense perd pique pleure prend
    prescrit
    propose pue ramène reçoit refuse regarde rentre répare répond reste rit ronfle râle sait
    sent sort
    surveille tape téléphone tient tombe touche tousse travaille triche trouve veut vend vient
    vit voit
    vole
    acosa ama amenaza aparca baila baja bebe canta castiga cobra cocina come compra contesta
    contrata
    cree critica cuida da debe deja despide dice discute duerme entiende envía escribe escucha
    espía
    estaciona exige explica explota fuma grita habla hace huele ignora insiste insulta invita juega
    ladra lee llama llega lleva llora manda miente mira molesta muere obliga odia olvida opera
    opina
    paga pega pide piensa pierde pone presume promete puede quiere receta recibe regaña reprueba
    responde ríe roba ronca sabe siente sube tarda tiene tira toca toma trabaja trae trata usa
    vende
    viaja viene vive
    """
)
# Before an ordinary word with a capital, these say that it names no one: `the Court`.
DETERMINERS = _words(
    """
    a an any both each every her his its my no our said such that the their these this those your
    el la los las un una su sus al del le les une cet cette ces l
    """
)
# In German every noun has a capital, and names have no article.
GERMAN_DETERMINERS = _words(
    """
    der die das den dem des ein eine einen einem einer eines kein keine keinen keinem keiner im am
    zum zur ins vom beim mein meine meinen meinem meiner dein deine deinen ihr ihre ihren ihrem
    ihrer sein seine seinen seinem seiner unser unsere unseren unserem unserer diese dieser dieses
    diesen diesem jede jeder jedes jeden alle viele mehrere einige
    """
)
# Frequent ones.
GERMAN_NOUNS = _words(
    """
    abend alter anfang angebot angst anruf antrag antwort arbeit arbeiten art arzt auftrag auge
    augen auto bedarf beispiel bericht beruf bescheid besuch betrag bild bitte brief buch chef
    datei daten datum deutsch dokument ende ergebnis erfolg essen euro fall familie fehler fenster
    firma form frage fragen frau frauen frist geburtstag geld geschäft gesetz gespräch grund gruß
    grüße gruppe hallo hand haus heute hilfe herren information informationen jahr jahre jahren
    kind kinder kinde konto kopf kosten kunde kunden land leben leute liebe mail mann männer
    mensch menschen meter minute minuten mitarbeiter mitte monat monate monaten morgen mutter
    nachricht nacht name namen nummer ort paar patient patienten person personen plan platz post
    preis problem probleme produkt programm projekt prozent punkt raum rechnung recht rest risiko
    schmerzen schritt schritte schule seite seiten software spiel sprache staat stadt stelle
    straße stück stunde stunden system tag tage tagen team teil termin text thema tisch titel tür
    uhr unternehmen urlaub vater verfahren vertrag vorschlag wasser weg welt werk wetter wiese
    woche wochen wohnung wort worte zahl zeichen zeit zeile ziel zimmer zukunft zug
    zusammenfassung
    """
)
GERMAN_PREPOSITIONS = _words(
    """
    und oder mit ohne für über unter nach bei aus zu wegen durch gegen als wie von auf sowie statt
    trotz
    """
)
ORDINALS = _words(
    """
    first second third fourth fifth sixth seventh eighth ninth tenth grand
    """
)
# Bodies and texts of the law, which the English word counts do not know.
INSTITUTIONS = _words(
    """
    agente ayuntamiento código comisión comité consejo constitución convenio convención corte
    decreto departamento dirección estado fiscal fiscalía gobierno juzgado ley ministerio ministro
    oficina parlamento presidente protocolo reglamento sala sección secretaría secretario
    sentencia sociedad tribunal arrêt assemblée bureau chambre code comité commission conseil
    constitution convention cour décret département état gouvernement juge loi ministère ministre
    parlement président procureur protocole règlement section secrétaire société tribunal
    """
)
# Of letters, offices and the law.
PHRASES = _words(
    """
    human_rights fundamental_freedoms civil_rights foreign_affairs home_affairs internal_affairs
    criminal_procedure civil_procedure kind_regards best_regards best_wishes yours_sincerely
    yours_faithfully
    """
)
# What else than a person has a name and an address; and those of them that are surnames, too.
PREMISES = _words(
    """
    academy apartments arcade arms bakery bank bar building cafe café center centre chambers
    chapel church clinic club college cottage court dental factory farm foundation gallery garden
    gardens grill hall hospital hostel hotel house inn institute kitchen library lodge mall manor
    market mill museum office palace park pharmacy plaza practice press pub residence restaurant
    resort salon school services shop square stadium station store studio studios surgery theater
    theatre tower towers trust university villa works
    amtsgericht apotheke bahnhof bibliothek bürgeramt finanzamt gasthaus gemeinde grundschule
    gymnasium haus hof jobcenter kanzlei kirche klinik krankenhaus landgericht landratsamt
    ordnungsamt praxis rathaus schule stadtbibliothek stadtverwaltung standesamt verein verlag
    bibliothèque clinique collège église gare hôpital hôtel lycée mairie musée pharmacie
    préfecture théâtre
    ayuntamiento biblioteca clínica colegio comisaría escuela estación farmacia hostal iglesia
    instituto museo oficina restaurante teatro
    chiesa comune liceo ospedale osteria pizzeria ristorante scuola stazione trattoria
    bibliotheek gemeente huisarts kerk stadhuis ziekenhuis
    apteka biblioteka kościół muzeum szkoła szpital urząd
    """
)
PREMISES_BORNE = _words(
    """
    arms bank bar chambers chapel church college cottage court farm garden gardens grill hall haus
    hof house inn kerk kitchen lodge mall manor market mill palace park plaza press schule square
    store tower towers trust villa works
    """
)
