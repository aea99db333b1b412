"""Words of records that name nobody, and those of them that people are also called by.

Words of medicine are `medicine`.
"""

from __future__ import annotations

import re

from perturb.selective.patterns.everyday import EVERYDAY, GRAMMAR
from perturb.selective.patterns.shape import words_of
from perturb.selective.patterns.words import NAME_PARTICLES
from perturb.vocabulary.stop_words import FUNCTION_WORDS

__all__ = [
    "ADDRESSES_BORNE",
    "ADDRESS_ALONE",
    "COMMON_SURNAMES",
    "COUNTED",
    "EDGES",
    "ENGLISH_EDGES",
    "FIELDS_OF_WORK",
    "GRAMMAR_WORDS",
    "HEADINGS",
    "HEADINGS_BORNE",
    "LEAST_SURE",
    "NAMED",
    "NAME_EDGES",
    "OF_MEDICINE",
    "PARTIES",
    "POSTS",
    "SIDES",
    "SMALL_WORDS",
    "SURE_PARTIES",
    "SURNAMES_TOO",
    "TYPES",
    "WORD",
]

# What may be found in such a phrase. An e-mail address or a telephone number is none.
NAMED = frozenset(("LOCATION", "NAME", "ORGANIZATION", "OTHER_NAME", "PERSON"))
COUNTED = frozenset(
    (
        *("CASE_NUMBER", "DATE_TIME", "DURATION", "ID", "MONEY", "NUMBER", "PERCENTAGE"),
        *("QUANTITY", "STREET_ADDRESS"),
    )
)
TYPES = NAMED | COUNTED | {"DEMOGRAPHIC", "NRP", "PROFESSION", "TITLE"}
OF_MEDICINE = NAMED | {"DATE_TIME", "DEMOGRAPHIC", "ID", "NRP", "QUANTITY"}
# Who somebody is in a trial.
PARTIES = words_of(
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
# Which are surnames of many people: only a word for a thing beside them counts.
COMMON_SURNAMES = words_of(
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
LEAST_SURE = 7  # letters
SMALL_WORDS = FUNCTION_WORDS | words_of(
    """
    de del la las el los lo le les l d des du un una unos unas une uno y e o u en a al con sin por
    para que se su sus desde hasta entre sobre segun como cada tras ante et ou au aux dans sur sous
    par pour avec sans chez lui elle il ils son sa ses ce cette qui jusqu di della dello dei degli
    gli i da dal nel nella per tra fra ed do dos das no na nos nas um uma com sem der die den dem
    ein eine einer eines und oder mit von zu zum zur im in am bei seit bis nach vor fur auf vers
    depuis dia mes ano jour
    """
)
# Before and after what is told.
EDGES = EVERYDAY - FUNCTION_WORDS
ENGLISH_EDGES = words_of("and of to or for with at by from")
GRAMMAR_WORDS = frozenset().union(*GRAMMAR.values())
# Beside the name of a person only words of grammar, none that is a particle: op den Camp.
NAME_EDGES = (
    frozenset(word for word in GRAMMAR_WORDS if len(word) > 3)
    | words_of("and of for with at by from und con mit met est ist")
) - (
    NAME_PARTICLES
    | words_of("onder over voor unter della dello delle degli dalla dallo dagli dalle")
)
# Everyday words that people are also called by.
SURNAMES_TOO = words_of(
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
# Of the parts of a curriculum vitae, a report or a form, which stand in capitals.
HEADINGS = words_of(
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
HEADINGS_BORNE = words_of(
    "court county claim alta devant nota notes profil perfil training contrato names namen actions"
    " agenda contre formation languages lettera skills minutes services servicio volkes between"
)
SIDES = words_of(
    "klager klagerin klagers beklagte beklagten beklagter antragsteller antragstellerin demandeur"
    " demanderesse defendeur defenderesse requerant requerante claimant defendant plaintiff"
    " zinsen kaufpreises zivilkammer"
)
SURE_PARTIES = frozenset(("klage", "kläger", "urteil"))  # hardly surnames, though short
# What somebody is in a firm, and what they are it of: Head of Supply Chain, Claims Department.
POSTS = words_of(
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
FIELDS_OF_WORK = words_of(
    """
    buchhaltung einkauf vertrieb personal verwaltung finanzen controlling marketing entwicklung
    clientèle commerciale commercial réclamations comptabilité ventes achats commerciale vendite
    acquisti ventas compras cocina inkoop verkoop administratie hr it regulatory
    """
)
ADDRESS_ALONE = words_of(
    "maître maitre monsieur madame herr herrn frau signora signor signore senhor senhora mrs mr"
)
ADDRESSES_BORNE = words_of("maître maitre herr")  # surnames, too
WORD = re.compile(r"[^\W_]+")
