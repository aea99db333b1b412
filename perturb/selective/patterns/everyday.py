"""List everyday words of six languages that the detector, which has learnt little of them, takes
for names, professions or dates.

None is a profession, a people, a number or a unit, but nouns and adjectives among them are
surnames, too (`Court`, `Stark`, `Camino`): those of `GRAMMAR` are hardly anybody's name.
"""

from __future__ import annotations

from perturb.selective.patterns.shape import words_of

__all__ = ["EVERYDAY", "GRAMMAR", "LANGUAGES", "is_everyday"]

# By language.
LANGUAGES = {
    "fr": words_of(
        """
    absence accord acte action actuellement affaire afin ai aide aie ailleurs ainsi ait aller allé
    allée alléguer alors annoncer apercevoir aperçu aperçue appeler appelé appelée apporter
    apprendre appris après après-midi argent arriver arrivé arrivée arrêt as assez assurer
    attendait attendre attendu attention attestation au aucun aucune aujourd'hui auparavant auprès
    aura auraient aurait auront aussi aussitôt autant auteur autour autre autres aux avaient avais
    avait avant avantage avec avenir avez avis avoir avons ayant bail base beaucoup besoin bien
    biens bientôt bleu bleue bon bonne bonnes bons bord bras brisé brisée brisées bruit but cadre
    caisse calme capable car cassé cassée cause causé causée ce ceci cela celle celles celui
    cependant certain certaine certains certes ces cet cette ceux changer changé chaque charge
    chemin cher chez choisir chose choses cité clair classique clef clientèle clinique colère
    combien comme commencer commencé comment commun commune complet complète comprendre compris
    comprise compte compter concert condamne condamner condamné condamnée condition conditions
    confiance confié confiée conforme connaissance connaît connaître connu connue conscient
    consciente conseil consentir conservé considérer constaté constatée construit contacté
    contenant contenir continué contrat contre convenu convient correct correspondance coup
    courait courant courante courir courrier cours court coût crise croire crois croit créance
    créé côté dans date davantage de dedans dehors demain demande demander demandé demandée
    demeurant depuis dernier derniers dernière dernièrement dernières derrière des devant devis
    difficile diffus différence dimension dire direct directe disait discret dispositif
    disposition dit dite dites document documents doit doivent dommage dommages donc donner donné
    donnée dont dossier double douleur droit droite droits du due dès début décision déclare
    déclarer déclaré déclarée défaut défense déjà délai déposer déposé déposée dépôt désormais dû
    eau effet efficace effort elle elles emploi en encore enfin ensemble ensuite entre entreprise
    entretien envers envie environ erreur espèce espèces et eu eue eux exactement exemple exigible
    existe explique expliquer expliqué exposé expérience exécution exécuté facile facilement
    facture faible faire faisait fait faite faites faits fallait fallu faudra faudrait faut faute
    favorable façon fera ferait fin finalement fixé fixée fonction fonctions fond fondé fondée
    font formation forme formé fort forte fourni fournir frais fut gardé gare garé garée gauche
    gens geste goût grand grande grandes grands gratuit grave gros groupe guère général générale
    généralement habituel habituelle haut haute heureusement heureux hier histoire hors ici idée
    il ils image immédiat immédiate immédiatement important importante impossible impression
    inconnu indemnité indique indiqué informé initialement instant insuffisant intérêt intérêts
    issue jamais je jeté jeu jeunes joie jouissance judiciaire jugement jugé jusque juste
    justement la laisser laissé laquelle le lentement lequel les lesquelles lesquels lettre leur
    leurs libre lieu ligne lire lit litige livre logement loi loin longtemps longue lors lorsque
    lourd lu lue lui lumière là légal légale léger légère légèrement ma magasin main maintenu mais
    maison maladie malfaçons malgré malheureusement manière manque marché mariage mariée mariés
    matière matériel mauvais mauvaise maître me meilleur meilleure membres menacé menacée mensuel
    mensuelle mené mes message mesure met mettre mieux mis mise mises mode moins moment mon monde
    montant montrer montré moral morale mort mot motif motifs mots mourir moyen moyens mémoire
    même mêmes nature ne ni niveau noir nom nombre nommé non normal normale normalement nos
    notamment note notifié notoirement notre nous nouveau nouvelle nouvelles nul né néanmoins
    nécessaire née nôtre objet obtenir obtenu occasion occupé officiel offrir on ont oralement
    ordinateur ordre organisme ou oui outil outre ouvert ouverte où paie pain papier par parce
    parfois parle parler parlé parmi parole part parti particulier particulière partie parties
    partir partout parvenu pas passage passer passé passée payer pays payé payée peine pendant
    penser pensé pensée perdre perdu perdue permet permettre personne personnel personnelle
    personnes petite petites petits peu peur peut phase phrase physique pied pièce pièces place
    placé placée plaint plainte plaisir plan plein pleine plus plusieurs plutôt point porte
    porte-monnaie porté portée position possible pour pourquoi pourra pourrait pourtant pouvait
    pouvez pouvoir premiers premières prenait prend prendre presque pression preuve prier
    principale principalement pris prise privé privée prix prié problème prochain prochaine procès
    procès-verbal procédure procédé produit produite produits profession professionnel
    professionnelle profit progressif progressive progressivement projet prononcé prononcée propos
    propose proposé propre propriété près précis précise précédemment précédent prénom présence
    présent présente présenté présentée prévenir prévu prévue prêt public publique puis puisque
    puisse période qualité quand quant que quel quelle quelles quelque quelquefois quelques quels
    question qui quiconque quitté quoi quotidien quotidienne raccroché raison rapide rapidement
    rappelé rapport rapports recevoir recours refus refuse refusé regarder relation relations
    remarque remarques remboursement rembourser remboursé remis remise rencontré rencontrée rendre
    rendu rendue renseignement rentré respect responsable reste rester resté retard retenu retour
    retourné retrouver revenir revenu reçu reçue rien rouge route rue règle réalisé réalisée
    récemment récent récente réception réel réelle référence réglé réglée régulier régulière
    régulièrement rémunération répondre répondu réponse répété répétées réserve résolution
    résultat réunion rôle sa sac saisi saisie sait salaire salle salon sans santé sauf savait
    savoir se seconde sein selon semblable semble sens sera seraient serait serez seront service
    services ses seul seule seulement seules seuls si signature signé signée silence simple
    simplement sinon situation siège social sociale société soi soin soins soir soit solde
    solennel solution somme sommes son sont sorte sorti sortie sortir soudain souhaitait souhaite
    sous souvent spécial subi subie suffisamment suis suite suivant suivante suivi suivre sujet
    supérieur supérieure sur surtout séjour sérieuse sérieux sûr ta table tant tard taux te
    technique tel telle tellement telles tels temps tendre tenir tenu terme termes terre tes tient
    titre toi toiture tomber tombé ton tort total totale totalement toujours tour tous tout toute
    toutefois toutes train traitement tranquille tranquillement travail travaux triste trop trouve
    trouver trouvé trouvée très tu type tâche tête tôt unique uniquement urgent urgente usage
    utile utilisé va vais valable valoir vas venait vend vendu venir vente venu venue vers verser
    versé vert verte veut veux vide vie vieille viennent vient vieux vif village ville violence
    visage visite vit vitre vivait vive vivre voici voie voilà voir voit voiture voix volonté volé
    volée vont votre voudrait voulait vouloir voulu vous voyage voyait vrai vraie vraiment vu vue
    vues véhicule vérité vôtre y à âgé âgée échange échéance école également élément équipe étage
    étaient étais était étant état étude études été évolution événement êtes être œil
        """
    ),
    "de": words_of(
        """
    ab aber abgelehnt abgeschlossen abgewiesen abzüglich akut akute akuten akuter alle allem aller
    alles als also alt alte alten am andere anderen anderer anderes angegeben angehört angenommen
    anwesend arbeitet arbeitete auch auf aufgehoben aufgelöst aufgenommen aufgrund aus ausgeführt
    ausgeschlossen außer außerdem außerhalb bald bat beantrage beantragt beauftragt bedroht befand
    befindet begann beginnt begründet behandelt bei beide beiden beim bekam bekannt bekommen
    bekommt beleidigt benötigt bereits berichtet berichtete beschlossen beschäftigt besondere
    besonderen besser beste bestehend bestehenden besteht bestellt besten bestritten bestätigt
    besucht betreut betrug betrugen bevor bezahlt bezogen bis bisher blau blauen bleibt blieb
    brachte bringen da dabei dachte dadurch dafür dagegen daher dahin damals damit danach daneben
    dann daran darauf daraus darf darin darum darunter darüber das dass dauerte davon davor dazu
    dein deine dem den denen denken denn dennoch der deren des deshalb dessen desto deswegen
    deutlich die dies diese diesem diesen dieser dieses doch dort dringend du durch durchgeführt
    durfte dünn ebenfalls ebenso eigene eigenen ein eine einem einen einer eines einfach eingelegt
    eingestellt einige einigen einmal eintrat entlang entlassen entschieden entstanden entweder er
    erfolgt erfolgte ergab ergibt erhalten erheblich erhebliche erheblichen erhielt erkannt
    erklärt erklärte erlitt erlitten erst erstmals erwarb erwartet erweitert erzielt es etwa etwas
    euch euer eure falls falsch fand fast fest festgestellt fiel finden frei freundlich
    freundliche freundlichen früh früher frühere früheren führt führte für gab ganz ganze ganzen
    gar geben gebeten geboren gebracht gefallen gefragt gefunden gegangen gegeben gegen gegenüber
    gehabt gehen geht gehört gehörten gekauft geklagt gekommen gekündigt gelang gelegen gelten
    geltend gemacht gemäß genannt genannte genannten genau genommen genug gering geringe gern
    gerne gesagt gesamt gesamte geschah geschehen geschickt geschlossen geschrieben gesehen
    gestellt gestern gestorben getan getragen gewesen gewisse gewohnt geworden gezahlt gezogen
    ging glaubhaft gleich gleiche gleichen gleichfalls glücklich groß große großen großer größer
    gut gute guten guter gutes haben hat hatte hatten her heute hielt hier hierbei hierfür hiermit
    hin hinter hoch hohe hohen holte hätte hätten höher ich ihm ihn ihnen ihr ihre ihrem ihren
    ihrer im immer in indem infolge ins insbesondere inzwischen irgendwie ist ja je jede jedem
    jeden jeder jedes jedoch jemals jemand jene jetzt junge jungen jünger kalt kam kamen kann
    kannte kaum kein keine keinem keinen keiner klar kleine kleinen kommt konnte konnten krank
    können könnte könnten künftig lag lassen laut lebt lebte lediglich leer legte lehnte leicht
    leichte leichten leider leidet letzte letzten letzter letztlich lieb liebe lieben lief liegt
    ließ links längst machen macht machte mal manche manchmal mehr mehrere mehrfach mein meine
    meinem meinen meiner meinte meist meistens meldete mich mindestens mir mit miteinander mittels
    mochte muss musste mussten möchte mögen möglich mögliche mündlich müssen nach nachdem nachher
    nachts nahm nannte natürlich neben nebst nehmen nein neu neue neuen neuer neues nicht nichts
    nie niemals niemand nimmt noch nochmals notwendig nur nächste nächsten nämlich nötig ob oben
    obwohl oder offen oft ohne ordentlich paar per persönlich plausibel plötzlich privat pro
    rechts regelmäßig richtig rief ruhig rund sagt sagte sah saß schilderte schlecht schlechte
    schlug schnell schon schrieb schriftlich schwer schwere schweren schön schöne schönen sehen
    sehr seid sein seine seinem seinen seiner seit seitdem selber selbst selten setzte sich sicher
    sie sieht sind so sobald sodann sofern sofort sogar solange solche solchen soll sollen sollte
    sollten somit sondern sonst soweit sowie sowohl sprach spät später spätestens stand standen
    starb stark starke starken stationär stationäre stationären statt stehen steht stellt stellte
    stets ständig sämtliche tat teils teilte teilweise traf trat trotz trotzdem trug trägt tun um
    umso unauffällig unbekannt und unklar uns unser unsere unserem unseren unserer unter verbracht
    verkauft verlangt verlassen verlegt verließ verlobt verloren vermietet vernommen verpflichtet
    verschiedene verschiedenen versichert versicherte verstarb verstorben versucht vertreten
    verurteilt verwiesen viel viele vielen vielleicht voll volle vollständig vom von vor voraus
    vorgestellt vorher vorhin vorliegend vorläufig vorstellig wahr wahrscheinlich wandte wann war
    waren warm warum was weder wegen weil weit weiter weitere weiteren weiterhin weiß welche
    welchem welchen welcher welches wem wen wenig wenige weniger wenigstens wenn wer werde werden
    wessen wichtig wichtige wie wieder wies wieso wir wird wirklich wirksam wo woanders wobei
    wodurch wofür wohin wohl wohnhaft wohnt wohnte wollte wollten womit woran worauf wovon wozu
    wurde wurden wusste wäre wären würde würden zahlen zahlt zahlte zirka zog zu zuerst zufolge
    zuletzt zulässig zulässige zum zumindest zur zurück zurückgewiesen zusammen zustehend
    zuständig zusätzlich zuvor zwar zwischen älter ältere ärztlich öffentlich über überhaupt
    überwiesen übrigens
        """
    ),
    "es": words_of(
        """
    a abajo abierto abogacía acaba acaso acepta acompaña acompañada acompañado aconseja acordado
    acto actualmente acude acudió acuerdo acá además adjunta adjunto adonde afirma ahora ahí al
    algo alguien alguna algunas alguno algunos algún allá allí ambas ambos amistad ante
    anteriormente antes apenas aquel aquella aquello aquí arriba asunto así atención atendida
    atendido aun aunque ayer ayuda ayudar aún bajo bar bastante baño bien boca boda bolsa buen
    buena buenas bueno buenos busca buscar busto cabeza cabo cada cae calidad cama cambia cambio
    cambió camino campo cantidad capaz cara cargo carta casa casi caso causa celular centro cerca
    cerrado cesta cierta cierto cita ciudad claro clase cláusula cláusulas cobra coche comentó
    comercial comida comienza como compra comprar compré comunica con condiciones condición
    conmigo conoce conocer conocimiento consta consumo contenido contesta contestan contigo
    continúa contra contrato contrató control copia correo cosa cosas coste cree creo criterio
    crédito cuadro cual cuales cualquier cualquiera cuando cuanto cuenta cuentas cuidado culpa
    cumple cumpleaños cuota cuál cuándo cuánto cómo da dado dar dato datos de debajo debe deben
    debía decir decisión declara decía deja dejó del delante demanda demasiado demás dentro
    derecho derechos derivado desayunos descanso descarta desde deseo después detrás deuda
    devuelvan di dice dicen dicha dicho diciendo dieron dificultad digo dijo dinero dio dirección
    dolor donde dosis duda duerme duración durante dónde e echa edad efecto ejemplo el ellas ellos
    empezó empresa en encargo encima encontraba encontró encuentra enfermedad enfrente entonces
    entre entrega entregó envió envía era eran error es esa esas escalera escribe ese eso esos
    espalda espera esta estaba estaban estado estamos estar estará estas este esto estos estoy
    estudio estuvo está están etapa excepto expediente explicó factura falta familia favor fecha
    fianza fiesta fin final firma firman firmó forma formación frente fue fuera fueron fuerza fui
    fundamento ganas gasto gastos gente gestión golpe gracias grado gran grande grandes grupo
    gusta gusto ha haber habitación hablado hablar habrá había habían hace hacemos hacen hacer
    hacia hacía haga hambre han hasta hay he hecho hechos hemos historia hizo hogar hoy hubo iba
    idea igual imagen importa importante impuesto incidencia incidencias incluso indica informa
    informe ingresa ingreso ingresó intenta intervenido ir jamás jornada jubilación juego juicio
    juntas junto justo la lado las le lejos lengua les ley libre libro lista llama llamada llamado
    llamar llamó llave llegaba llegó lleva llevaba lo local los luego lugar línea mal mala manda
    mandar mandó manera mano mas materia mayores mañana me mediante medio mediodía medios mejor
    mejoría mejoró menor menores menos mensaje mesa mesas mi miedo mientras mis misma mismas mismo
    mismos mitad modo momento motivo mucha muchas mucho muchos muerte muestra multa mundo murió
    muy más mí mía mío nacimiento nada nadie naturaleza necesario necesita negocio ni niega
    ninguna ninguno ningún no noche nombre nos nosotros nota noticia nuestra nuestras nuestro
    nuestros nueva nuevas nuevo nuevos nunca número o obra ocasión ocurre oferta oficina ofrece
    ojo ojos olvidó orden os otra otras otro otros oír paga pagadera pagar pago pagó palabra
    palabras papel par para parte partes pasa pasado paso pasó patio país pedido pedidos pedir
    pedí pensar pequeña pequeño perdió permite pero perro persona personal personas peso pide
    pidió pie pieza pisito piso plan plaza plazo población poca pocas poco pocos podrá podría pone
    poner ponga ponte por porque posibilidad posible precio precisa prefiere pregunta preguntar
    presencia presenta presentó prestación principio privado problema problemas proceso produce
    producto pronto propia propio prorrogable proyecto prueba pruebas pudo pueblo puede pueden
    puerta pues puesto punto puso pérdida público que queda quedó queja quería quien quienes
    quiere quiero quizá quizás quién qué rato razón realiza realizó recibió recibo recibos
    recomienda referencia refiere relación remite remitido renta reparación reserva responde
    respondió respuesta resto resultado retira retiró retraso reunión ropa sabe sabemos saber
    sabes salir salió salud salvo sangre se sea seguir seguro según semejante sensación sentarse
    sentido ser serio servicio será sería señal si siempre siendo siente siga sigue siguiente
    silla simple sin sino sirve sitio situación sobre sofá sois solamente solicitud solo somos son
    soy su sueldo suele suelo suerte sueño sufre sufrió suma sus suya suyo sí síntoma sólo tal
    tales también tampoco tan tanta tantas tanto tantos tarde tarjeta te tema temporada temprano
    tener tenga tengo tenido tenía tercera ti tiempo tienda tiene tienen tierra tipo toda todas
    todavía todo todos toma tomar total trabaja trabajaba trabajo traer trajo transporte tras
    trata trato traté través traído tu tus tuvo título tú un una unas uno unos urgencia uso usted
    ustedes va vale valor vamos vaya vea veces vehículo ven vende vendió venir venta ventana ver
    verdad vez vi viaje vida viene vino visita visitar vista visto vive viven vivienda voluntad
    vosotros voy voz vuelto vuelve vuestra vuestro y ya yo él éxito última últimas último últimos
    única único útil
        """
    ),
    "it": words_of(
        """
    a abbastanza abbia abbiamo abita accanto accertato accompagnato acqua adesso affari affatto
    agli ai aiuto al alcuna alcune alcuni alla alle allegato allo allora altra altre altri altro
    amore anche ancora andare andata andato annullata annuncio anzi appare appena appuntamento
    argomento aria arriva arrivata arrivato arrivo articolo aspetto assai assunto attenzione
    attraverso attuale aumento avanti avendo aver avere avete aveva avevano avrebbe avrà avuta
    avuto avviso azienda bagno banca base bello benché bene bensì bisogna bisogno bocca braccio
    breve brutta brutto buon buona buone buoni buono c'è caldo cambio camera campo candidatura
    capo carta casa caso causa centro cerca cercare cerco certa certi certo che chi chiama
    chiamata chiamato chiamo chiede chiedere chiesto chissà ci ciascuno ciononostante cioè circa
    città ciò classe coi col colpa colpo come comincia compenso compito compleanno compra comprato
    comune comunicazione comunque con condannato condizione condizioni confermato conosce
    considerato contattare contattato conto contratto contro controllato controllo copia corpo
    corso cosa cose costo così credo cui cuore da dagli dai dal dalla dalle dallo danno dare data
    dati dato davanti davvero decisione deciso degli dei del della delle dello dentro detta detto
    deve devo devono di diagnosi dice dichiara dichiarato dicono dietro differenza difficile
    difficoltà dimessa dimesso dimettiamo dire diritto discorso diventata dobbiamo documento
    dolore domanda domani dopo dove dovere dovrebbe dovunque dovuto dubbio due dunque durante
    durata dà e ebbene ecco effetto effettuata effettuato eppure era erano eravamo esame eseguita
    eseguito esempio esperienza essa esse essendo essere essi esso età evento fa faccia faccio
    facile fai famiglia famiglie fanno far fare fargli fase fatta fatto fattura febbre fede festa
    figura finché fine finire finita finito fino finora firma firmato foglio fondo forma
    formazione forse forte forza fosse foto fra freddo fretta fronte fu fuoco fuori furono futuro
    gente gestione gioco giovane giovani giro giunge giunto giusto già giù gli governo gran grande
    grandi grave grazie gruppo guarda guida ha hai hanno ho idea ieri il immagine importante
    importo impresa in indicato infatti infine inizia iniziato inizio inoltre insieme insorta
    insorte interesse interno intervento invece inviato io istruita la lascia lasciato lato laurea
    lavora lavorare lavorato lavoro le legge lei lesioni lettera letto li libero libro linea
    lingua lista lo locale lontano loro luce lui lunga lungo luogo là lì ma maggior maggiore mail
    male malgrado manda mandato mani mano materia me medicina medico meglio memoria meno mente
    mentre merito messaggio messo mettere mi mie miei miglioramento migliore minore mio misura
    modo molta molte molti molto momento mondo morte mostra mostrato mostrava motivo muore nasce
    nascita nata nato natura ne neanche necessario negli nei nel nella nelle nello nemmeno neppure
    nessun nessuna nessuno niente no noi nome non nonostante nostra nostre nostri nostro nota
    notte nulla numero nuova nuove nuovi nuovo né o occasione occhi occhio occorre odierna offerta
    offre oggetto oggi ogni ognuno oltre operato oppure ora orario ordine ormai ospedale ossia
    ovunque paese paga pagamento pagare pagato pagina parecchio parla parlare parlato parola
    parole parte passa passare passato passo paura pausa pensa pensare penso per perché perciò
    perfino periodo perso persona persone però peso pezzo piace piacere piano piccola piccolo
    piede piena pieno piuttosto più poca poche pochi poco poi poiché politica porgo porta portare
    portato posizione possa possiamo possibile posso possono posto potere potrebbe potuto pratica
    precisa preciso prega prende prendere prescritto presenta presentato preso presso presto
    preventivo prezzo principale principio privata privato problema problemi processo prodotto
    progetto proposta proprietà proprio prossima prossime prossimo prova provato provoca pubblica
    pubblico punto pure può qua quadro qualche qualcosa qualcuno quale quali qualità qualsiasi
    quando quanta quante quanti quantità quanto quasi quel quella quelle quelli quello
    quest'ultimo questa queste questi questione questo qui quindi ragione rapporto regalo regola
    responsabilità resta restare resto ricerca ricevuto richiesta ricorda ricoverata ricoverato
    riferisce riferito rimane rimasto riprende rischio riscrivi risponde risposta risposto risulta
    risultato ritorna ritornare riunione riuscita ruolo salgo salutare salute salve sangue sanno
    sapere sapeva sappiamo saranno sarebbe sarebbero sarei sarà scala scegliere scelta scorsa
    scorso scritto scrive scrivere scrivo scuola se sebbene secondo sede segno segue seguire
    seguito sembra semplice sempre senso sente sentenza sentire senza sera serata serie serve
    servizio settore sia siamo siano siccome sicura sicurezza sicuro simile sinistra sino sistema
    situazione società soldi solo soltanto somma sono sopra soprattutto sotto spazio specie spende
    spesa spese spesso spiega sta stai stamattina stampa stanno stanza stare starà stasera stata
    state stati stato stava stessa stesse stessi stesso storia strada studio su sua subito succede
    successiva successivo successo sugli sui sul sulla sulle sullo suo suoi sé tale tali talmente
    talvolta tanta tante tanti tanto tardi te telefono tema tempo tenere termine terra testo ti
    tiene tipo titolo torna tornare totale tra tranne trasferirmi trasferirsi troppa troppi troppo
    trova trovare trovato trovi tu tua tue tuo tuoi turno tutta tuttavia tutte tutti tutto uguale
    ultima ultime ultimi ultimo umano un una unica unico uno urgenza usa usare uso utile va vada
    vado vai valore valutato vanno vari varie vecchia vecchio vede vedere vendita venduto venga
    vengo vengono venire venne venuto verità vero vi via viaggio vicina vicino vidi viene visita
    visitato vista visto vita vive vivere voce voglia voglio vogliono voi volere voleva volta
    volte vorrei vostra vostre vostri vostro vuoi vuole vuoto
        """
    ),
    "pt": words_of(
        """
    abaixo acaso acha acima aconteceu acordo ademais adiantou agora ainda ajuda algo algum alguma
    algumas alguns alguém altura além ambos ante antes ao aonde aos apenas apesar apoio apresenta
    apresentava apresentou apto após aquela aquele aqueles aqui aquilo as assim assunto atenção
    através atrás até aula aulas aumentou avisou aí base bastante bem boa boas bom bons cabe
    cabeça cada cama caminho campanhas campo capaz cara cargo carta casa caso causa cedo centro
    certa certamente certo chama chamado chave chegar chegou chorar cidade cima coisa coisas com
    começa começou comida comigo como compra comprar compras comprou comum concordo conhece
    consegue consigo conta contas continua contou contra contrato contudo corpo cuidado cuja cujo
    culpa curso custa custaram custo custou cá cópia da dado dados dali daquele dar das data daí
    de debaixo decisão deixa deixar deixou dela dele deles demais dentro depois depósito desceu
    desculpa desde despesa dessa desse deste deu devagar deve devem devia diante diferença difícil
    dinheiro direito direitos disse disseram disso disto diz dizem dizer do documento domicílio
    donde dor dos dose dou durante dá dívida dúvida e efeito ela elas ele eles em embora empresa
    encomenda encontra encontrou enfim enquanto ensino entrada entre entretanto entrou então
    enviado enviar envio equipa equipe era erro escola escreve escrever escreveu espaço espera
    esperar espécie essa essas esse esses esta estado estamos estar estas estava estavam este
    estes esteve estive estou estudo está estão evolução exame exceto exemplo experiência explica
    fala falar falou falta família fase fatura favor faz fazer fazia febre feira fez fica ficar
    ficou fim final foi folha fomos fora foram forma formação forte força fosse fui fundo futuro
    fácil férias gente gestão gostaria gosto governo grande grandes grau grupo haver havia hei
    história hoje hospital houve há ia idade ideia igual imagem importa importante imposto inicia
    iniciou interesse início ir isso isto jamais jogo jovem junta junto justo já lado lei lembra
    ler letra leva levar levou lhe lhes liga ligar ligação ligou liguem limite linha lista livre
    livro local logo loja longe lugar lá língua maior maiores mais mal mala manda mandar mandou
    maneira manhã marca marcar mas material matéria me mediante medo meio melhor melhores melhorou
    menor menos mensagem mesa mesma mesmas mesmo mesmos metade meu meus mim minha minhas modo
    momento morada moramos moro morreu morte mostra mostrou motivo muda mudou muita muitas muito
    muitos mundo mão mãos na nada naquele nas nasceu natureza necessário nega negócio nela nem
    nenhum nenhuma nessa nesse nesta neste nisso no noite nome nos nossa nossas nosso nossos nota
    nova novas novo novos num numa nunca não nós número o objeto obra oferta olho olhos onde ontem
    opinião ora ordem orçamento os ou outra outras outro outrora outros ouve paga pagamento pagar
    pagou palavra palavras papel par para parece parte partes partiu passa passado passar passou
    país pede pedido pediu pela pelas pelo pelos pensa pensar pequena pequeno per perante percebe
    perdeu pergunta perto período peso pessoa pessoas peça plano pode podem podemos poder poderia
    podia pois ponto por porquanto porque porta portanto porém posição posso possível posto pouca
    poucas pouco poucos prazer prazo precisa preciso preferia presente presença preço princípio
    problema problemas processo procura produto produção professora projeto proposta prova própria
    próprio próxima próximo pude pôde pôs põe pública público quadro quais qual qualidade qualquer
    quando quanta quantidade quanto quase que quem quer queria quero questão quão quê razão
    realidade recebe recebeu recibo recomenda recusou redes refere referência regra relatório
    relatórios relação remédio renda repetir responde respondeu resposta resto resultado reunião
    roupa rua sabe sabem saber sai saiu salário sangue saúde se seguinte seguir segundo seguro
    seja sem sempre sendo sente sentido senão ser seria serve serviço serviços será seu seus si
    sido sim simples sinal sistema situação sob sobre sobretudo sociais social somente somos sonho
    sorte sou sua suas suficiente são série só tais tal talvez também tampouco tanta tantas tanto
    tantos tarde tarefa te telefone tem tema temos tempo tenha tenho ter terra teste teu teus teve
    tinha tinham tipo tira toma tomar tomou tosse total trabalha trabalhar trabalhava trabalho
    traga trata tratamento trazer trazida trazido trouxe tu tua tudo tão têm título um umas uns
    urgente urgência usa usar uso vai vale valor vamos veio velha velho vem venda vendeu ver
    verdade vez vezes vi viagem vida vir visita viu vive viver você vocês volta voltar voltou
    vontade vosso vou voz vão à às água óculos última últimas último últimos única único útil
        """
    ),
    "nl": words_of(
        """
    aan aandacht aangevraagd aangezien aantal aanvraag aanwezig achter adres af afdeling
    afgesproken afspraak afspraken al aldus alle alleen alles als altijd ander andere anderen
    antwoord appartement auto avond badkamer bed bedankt bedrag bedrijf been begin behandeld beide
    beiden bekend belde beloop belt bereikt bericht beroep besluit bestaande bestond betaal
    betaald betaalt betalen betaling beter betere beviel bewoner bezoek bezwaar bij bijlage bijna
    binnen bleef blij blijft boek boos boven bovendien bovengenoemde bracht brengt brief broek
    buik buiten buurt contact contract controle daar daarbij daardoor daarin daarna daarnaast
    daarom daarvan daarvoor dat de deed deel deelde denk denkt deur deze dezelfde die dingen dit
    doch doel doen doet door doordat draagt dronk druk dure dus duur duurt echter een eens eerst
    eigen einde elk elkaar en enige enkele er eraan erbij eren erg ermee ernstig ervan ervaring
    ervoor even evenals factuur familie feest fiets fietsenkelder fijn foto fout ga gaan gaat gaf
    gebeld gebied gebleven gebracht gebruik gebruikt gedaan gedachte gedurende geeft geen gegaan
    gegeven gehad gehoord gekocht gekomen gekregen geld geleden gelezen gelijk geluk gemaakt
    genoeg genoemd genomen geopereerd geschiedenis gesprek gestaakt gestopt gestuurd gevallen
    gevoel gevolg gevonden gevraagd geweest gewerkt gewone gewoon geworden gezegd gezicht gezien
    gezin gezondheid ging gingen goed goede graag graden groep grond grote haar had hadden hand
    handen heb hebben hebt heeft heel heer heet hele helemaal helpen hem hen het hetzelfde hield
    hielp hier hierbij hiermee hij hoe hoefde hoeveel hoewel hond hoofd hoog hoort houd houdt huis
    huisgenoot hulp hun huur huurt idee ieder iedere iedereen iemand iets ik in indien intussen is
    ja je jezelf jij jonge jou jouw juist jullie kamer kan kans kant keek keer kelder kende kennis
    kent keuken keuze kijk kijken klacht klachten klant klanten klas kleine kocht koffie kom komen
    komt kon kop kort kosten kracht kreeg krijgt kunnen kwam kwamen laat laatste lag langdurig
    langs last later leed lees leest leg let leven lichaam lichamelijk lichamelijke licht lid liep
    liet lift ligt lijst links logeren loopt lopen lucht maak maakt maakte maar maatregel mag
    maken manier markt me mee meer meestal meldt men mening mens mensen met mezelf mij mijn
    mijzelf misschien moeite moest moesten moet moeten mogelijk mogen moment mond mooi mooie
    morgen na naam naar naast nacht nadat nam namelijk natuurlijk neem neemt nemen niemand niet
    niets nieuw nieuwe nieuws nodig noemt nog nogmaals nooit nota nu nummer of offerte ofschoon
    ogen om omdat omstreeks ondanks onder onderzoek ongecompliceerd ongeveer ons ontslag
    ontslagbrief ontslagen ontvangen ontving oog ook oorzaak op opdagen opdracht opgelost
    opgenomen opleiding opname opnieuw oud oude ouders over overal overlast paar pagina pas paste
    per pijn plaats plaatsgevonden plan plek plotseling polikliniek praat praktijk precies prijs
    probleem punt raad rechter rechts reeds regel rekening reparatie rest resultaat review riep
    roken rond ruimte ruzie samen samenleving schimmel school schreef schrijf schrijven schuld
    sinds situatie slecht slechte slechts sleutel sliep sloeg soms soort spel spoed spoedig sprak
    spreek spreekt staan staat stad stap steeds stelde stelt stem ster stoel stond straat straks
    stuk stuur stuurt taal tafel tegen tegenover tegenwoordig telefoon telkens tenzij ter terug
    terwijl tevreden tijd tijdens toch toen toestand toestemming toonde tot totdat trok tuin
    tussen u uit uiteraard uw vaak vakantie vanaf vandaag vanwege vast veel veilig vele verbeterd
    verblijft verder verdikte vergadering vergat verhaal verhuisd verkocht verleden verliet
    verloor vermeld verrekenen verricht verschenen verschil verslag verteld vertelde vertrok
    verzekering via vinden vindt vlak volgende volgens volledig vond voor vooral voorbeeld voordat
    voorgeschiedenis voorheen vooruit voorwaarde vorig vorige vraag vraagstuk vraagt vragen
    vriendelijk vriendelijke vrij vroeg vroeger waar waarbij waarde waardoor waarin waarna waarom
    waarvan waarvoor wacht wagen wanneer want waren warm was wat water we weer weet weg wegens
    weinig wel welk welke werd werden wereld werk werkt werkte wie wij wijze wil wilde wilden
    willen winkel wist woning woon woonde woont woord woorden word worden wordt zaak zag zaken zal
    zat zeg zegde zegt zei zekerheid zet zie ziek ziekte zien ziet zijn zin zit zo zoals zocht
    zodat zodra zonder zorg zorgt zou zouden zowel zulke zullen zwaar zware
        """
    ),
}
EVERYDAY = frozenset().union(*LANGUAGES.values())
# Of them, by language: adverbs, pronouns, prepositions, conjunctions and forms of auxiliary verbs
# that people are hardly called by.
GRAMMAR = {
    "fr": words_of(
        """
        actuellement afin ainsi alors après au aucun aucune auparavant aujourd'hui auprès aussi
        aussitôt autrefois aux avaient avait avec bientôt car ce ceci cela celle celles celui
        cependant certes ces cet cette ceux chaque chez combien comme comment dans davantage depuis
        dès désormais donc dont du déjà elle elles encore enfin ensuite entre environ est et eux
        finalement généralement heureusement ici ils initialement jamais je jusque la laquelle le
        lequel les lesquelles lesquels leur leurs lors lorsque lui longtemps mais malgré
        malheureusement me mes moi mon même ne notamment notre nos nous néanmoins normalement où
        par parce parfois parmi pendant peut plusieurs plutôt pour pourquoi pourtant presque
        précédemment puis puisque quand quant que quel quelle quelles quelquefois quelques quels
        qui quiconque quoi rapidement récemment régulièrement sa sauf se selon sera ses seulement
        si simplement sinon soit son sont soudain souvent suis sur surtout ta tandis te tellement
        tes toi ton toujours tous toute toutes toutefois très tu un une vers voici voilà vos votre
        vous vraiment à étaient étais était étant êtes être dernièrement immédiatement lentement
        exactement ensemble
        """
    ),
    "de": words_of(
        """
        aber alle allem aller alles als auch auf aufgrund aus außer außerdem außerhalb bei beim
        bereits bevor bis bisher da dabei dadurch dafür dagegen daher damals damit danach daneben
        daran darauf daraus darin darum darunter darüber das dass davon davor dazu dein deine dem
        den denen dennoch der deren des deshalb dessen desto deswegen die dies diese diesem diesen
        dieser dieses durch ebenfalls ebenso ein eine einem einen einer eines einige einigen einmal
        entlang entweder er es etwa etwas euch euer eure falls für gegen gegenüber gemäß gestern
        habe haben hat hatte hatten heute hier hierbei hierfür hiermit hinter ich ihm ihn ihnen ihr
        ihre ihrem ihren ihrer im immer in indem infolge insbesondere inzwischen irgendwie ist jede
        jedem jeden jeder jedes jedoch jemals jemand jetzt kann kein keine keinem keinen keiner
        können könnte könnten lediglich leider manchmal mehrere mehrfach mein meine meinem meinen
        meiner meistens mich mindestens mir mit miteinander mittels muss musste mussten müssen nach
        nachdem nachher nachts nebst nicht nichts niemals niemand nochmals nur nämlich obwohl oder
        ohne plötzlich regelmäßig schließlich sehr sein seine seinem seinen seiner seit seitdem
        selbst sich sie sind sobald sodann sofern sofort sogar sollte sollten sondern soweit sowie
        sowohl später spätestens stets trotz trotzdem um und uns unser unsere unserem unseren
        unserer unter vielleicht vom von vor vorher vorhin vorläufig wann war waren warum was wegen
        weil weiterhin welche welchem welchen welcher welches wem wen wenn wer werden weshalb wie
        wieder wieso wir wird wo wobei wodurch wofür wohin womit woran worauf wovon wozu wurde
        wurden während wäre wären würde würden zu zuerst zufolge zuletzt zum zumindest zur zurück
        zusammen zusätzlich zuvor zwar zwischen über überhaupt übrigens möchte
        """
    ),
    "es": words_of(
        """
        acaso actualmente además ahora ahí al algo alguien alguna algunas alguno algunos algún allá
        allí ambos ante anteriormente antes apenas aquel aquella aquello aquí así aun aunque ayer
        aún bajo bastante cada casi como con conmigo contigo contra cual cuales cualquier
        cualquiera cuando cuanto cuál cuándo cuánto cómo de debajo del delante demasiado desde
        después detrás donde dónde el ella ellas ello ellos en encima entonces entre era eran es
        esa esas ese eso esos esta estaba estamos estas este esto estos estoy está están finalmente
        ha había habían han hasta hay he hoy incluso jamás la las le les lo los luego mañana me
        mediante menos mi mientras mis mucho muy más mí nada nadie ni ningún ninguna ninguno no nos
        nosotros nuestra nuestras nuestro nuestros nunca otra otras otro otros para pero poco por
        porque pues que quien quienes quién qué quizá quizás se sea según ser será si sido siempre
        sin sino sobre solamente somos son soy su sus sí también tampoco tan tanto te tenemos tengo
        tiene tienen todas todavía todo todos tras tu tus tú un una unas unos usted ustedes varias
        varios vosotros y ya yo él necesito quiero quisiera puedo
        """
    ),
    "it": words_of(
        """
        ad adesso ai al alcune alcuni alla alle allo allora altrimenti anche ancora anzi appena
        attualmente avevo aveva bensì che chi chiunque ci cioè circa ciò come comunque con contro
        così cui da dagli dai dal dalla dalle davvero degli dei del della delle dello dentro di
        domani dopo dove dovunque dunque e ebbene ecco eppure era erano eravamo esse essi finché
        finora forse fra fuori già giù gli grazie ha hai hanno ho ieri il in infatti infine inoltre
        insieme intanto invece io la le lei li lo loro là lì ma malgrado me meglio meno mentre mi
        mia mie miei mio molta molte molti molto ne neanche negli nei nel nella nelle nello nemmeno
        neppure nessuno niente no noi non nonostante nostra nostre nostri nostro nulla né o oggi
        ogni ognuno oltre oppure ora ormai ossia ovunque per perché perciò perfino però piuttosto
        più poi poiché presso pure può qua qualche qualcosa qualcuno quale quali qualsiasi quando
        quanta quante quanti quanto quasi quel quella quelle quelli quello questa queste questi
        questo qui quindi se sebbene secondo sempre senza si siamo siano siccome soltanto sono
        sopra soprattutto spesso sta stamattina stasera stava sto su sua subito sugli sui sul sulla
        sulle suo suoi sé tale talvolta te ti tra tranne troppo tu tua tue tuo tuoi tutta tuttavia
        tutte tutti tutto un una uno vi voi vorrei vostra vostre vostri vostro è
        """
    ),
    "pt": words_of(
        """
        a acaso ademais agora ainda algo alguma algumas alguns alguém algum além ambos ante antes
        ao aonde aos apenas apesar após aquela aquele aqueles aqui aquilo as assim através atrás
        até cada com comigo como consigo contra contudo cuja cujo da daquele das debaixo dela dele
        deles demais dentro depois desde dessa desse deste disso disto do donde dos e ela elas ele
        eles em embora enfim enquanto entre entretanto então era essa essas esse esses esta estamos
        estas estava estavam este estes estou está estão eu exceto fomos fora foi foram havia hoje
        há isso isto jamais já lhe lhes longe logo lá mais mas me mediante melhor menos mesma
        mesmas mesmo mesmos meu meus mim minha minhas muita muitas muito muitos na nada naquele nas
        nela nem nenhum nenhuma nessa nesse nesta neste nisso no nos nossa nossas nosso nossos num
        numa nunca não nós o onde ontem os ou outra outras outrora outros para pela pelas pelo
        pelos perante pois por porque porquanto portanto porém pouco quais qual qualquer quando
        quanta quanto quase que quem quero quão quê se sem sempre sendo senão seu seus si sido sob
        sobre sobretudo somente somos sou sua suas são só tais talvez também tampouco te tem temos
        tenho teu teus tinha tu tua tudo tão têm um uma umas uns vai você vocês vosso à às é
        """
    ),
    "nl": words_of(
        """
        aan aangezien achter al aldus alle alles als altijd andere anderen beide beiden bij bijna
        binnen boven bovendien buiten daar daarbij daardoor daarin daarna daarnaast daarom daarvan
        daarvoor dat de deze dezelfde die dit doch door doordat dus echter een eens en enkele er
        eraan erbij ermee ervan ervoor evenals geen gedurende haar had hadden heb hebben hebt heeft
        helaas hem hen het hetzelfde hier hierbij hiermee hij hoe hoeveel hoewel hun ieder iedere
        iedereen iemand iets ik indien intussen is je jezelf jij jou jouw jullie kan langs maar me
        meestal met mezelf mij mijn mijzelf misschien moet moeten na naar naast nadat namelijk
        natuurlijk niemand niet niets nogmaals nooit nu of ofschoon om omdat omstreeks ondanks
        onder ongeveer ons ook op opnieuw over overal per plotseling reeds samen sinds slechts soms
        steeds straks tegen tegenover tegenwoordig telkens tenzij terwijl tijdens toch toen tot
        totdat tussen uit uiteraard uw vaak vanaf vandaag vanwege vervolgens via volgens voor
        vooral voordat voorheen waar waarbij waardoor waarin waarna waarom waarvan waarvoor wanneer
        want waren was wat we wegens welke wie wij wordt worden zal ze zij zijn zoals zodat zodra
        zonder zou zouden zowel zulke
        """
    ),
}


def is_everyday(word: str) -> bool:
    """Tell if a word is an everyday one in one of the languages, in any capitals.

    >>> [is_everyday(word) for word in ("solennel", "Weder", "infirmière", "Hannelore")]
    [True, True, False, False]
    """
    return word.lower() in EVERYDAY
