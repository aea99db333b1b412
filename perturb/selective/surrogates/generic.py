"""List the generic words of places, firms, streets and paths, which stay in a surrogate."""

from __future__ import annotations

__all__ = [
    "FIRM_WORDS",
    "INSTITUTION_WORDS",
    "PATH_WORDS",
    "PLACE_WORDS",
    "SMALL_WORDS",
    "STREET_ENDS",
]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Articles, prepositions and conjunctions inside names.
SMALL_WORDS = _words(
    """
    a an the of and for in at on upon by to de del della delle dell di da do dos das du des la le
    les el los las lo l d y et e i von vom zu zum zur am an der den dem des die das im in bei auf
    ob unter und für mit van ter ten het og och på
    """
)
# Legal forms, and what many firms call themselves.
FIRM_WORDS = _words(
    """
    inc incorporated ltd limited llc llp lp plc corp corporation co company companies group gruppe
    groupe grupo holding holdings gmbh mbh ggmbh ag se kg kgaa ohg gbr ug ev eg sarl sas sasu sa
    spa srl sl bv nv ab oy oyj as asa aps kft zrt doo ood pty pte pvt partner partners sons söhne
    brothers gebrüder fils hermanos associates international team project projekt projet proyecto
    """
)
# Institutions: a word after one is a place (`University of Hamburg`, `Klinikum Hanau`).
INSTITUTION_WORDS = _words(
    """
    university universität université universidad università universiteit college hochschule school
    schule gymnasium grundschule école lycée escuela instituto institute institut academy akademie
    hospital hospitals klinik kliniken klinikum krankenhaus clinic clinique hôpital medical center
    centre zentrum bank banque banco sparkasse court amtsgericht landgericht gericht tribunal
    ministry ministerium ministère ministerio department agency authority council commission
    committee office amt museum library bibliothek bibliothèque theater theatre theatre foundation
    stiftung fondation association verein verband society club union federation police polizei
    services service practice praxis kanzlei apotheke pharmacy hotel restaurant café airport
    flughafen station bahnhof stadtwerke
    """
)
# Kinds of streets and places, parts of a house, and the quarters of the sky.
PLACE_WORDS = _words(
    """
    street st avenue ave road rd boulevard blvd lane ln drive dr parkway pkwy highway hwy court ct
    square sq place pl terrace way close crescent circle trail alley row walk gardens grove mews
    quay straße strasse str weg platz allee gasse damm ufer chaussee steig markt ring rue av bd
    chemin allée impasse quai faubourg cours route calle avenida avda plaza pza paseo camino
    carretera ctra ronda travesía glorieta rambla vía via viale piazza corso largo rua praça
    travessa ulica ul al aleja trg ulice straat laan plein gracht gatan vägen veien vej gade gata
    katu utca út utcája tér cad caddesi sokak sk mahallesi mah bulvarı strada aleea șoseaua jl
    jalan gang đường phố phường quận no nr nº box po obox pobox apt apartment suite unit floor fl
    room flat bis ter north south east west northern southern eastern western central upper lower n
    s e w ne nw se sw nord süd ost sud est ouest norte sur ober unter bad alt neu lake river mount
    mountain mountains island islands isle bay beach valley forest port harbour harbor city town
    village county district state province region republic lac mont lago río monte san santa santo
    saint sankt ste see fluss insel stadt landkreis kreis bezirk dorf
    """
)
# Kinds of streets that are written with the name in one word.
STREET_ENDS = (
    *("straße", "strasse", "str", "straat", "gatan", "vägen", "veien", "gracht", "weg", "platz"),
    *("allee", "gasse", "damm", "ufer", "chaussee", "steig", "markt", "laan", "plein", "gade"),
    *("vej", "vegen", "gata", "katu", "utca"),
)
# Of paths and queries: they tell nothing of anybody.
PATH_WORDS = _words(
    """
    http https ftp www api rest graphql json xml html htm xhtml php asp aspx jsp cgi css js pdf png
    jpg jpeg gif svg csv txt zip doc docx xls xlsx ppt pptx md index home main default login logout
    signin signup register account accounts user users u profile profiles people person team teams
    member members admin settings search query q id ids ref page pages p item items product
    products order orders cart file files download downloads upload uploads image images img media
    static assets public docs doc wiki blog post posts news article articles tag tags category
    categories event events calendar group groups project projects repo repos issue issues pull
    blob tree commit commits raw edit view show new list share link links invite meeting meetings
    room rooms channel channels message messages thread threads status v lang locale en de fr es
    tab top name email sid hash ver version size limit offset filter format mode state code lib src
    token key session utm source medium campaign type sort order by asc desc from to date start end
    """
)
