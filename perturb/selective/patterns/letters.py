"""Find names of persons in the greetings and the closings of letters and messages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from perturb.selective.patterns.given import has_family_first, is_given, is_ordinary_word
from perturb.selective.patterns.labels import is_label_alone
from perturb.selective.patterns.people import TITLES
from perturb.selective.patterns.persons import (
    DEPARTMENTS,
    WRITTEN_LOWER,
    WRITTEN_NAME,
    WRITTEN_TITLE,
    is_given_name,
    is_lower_name,
)
from perturb.selective.patterns.shape import (
    all_clues,
    any_clue,
    any_listed,
    any_match,
    any_of,
    any_string,
    beyond_latin,
    shape,
    words_of,
)
from perturb.selective.patterns.words import PARTICLES, PREMISES, PREMISES_BORNE
from perturb.text.marks import MARKS

__all__ = [
    "LETTERS",
    "find_addressees",
    "is_addressed",
    "is_closing",
    "is_greeting",
    "is_role",
    "skip_lead",
]

# Closings that are hardly anything else.
_CLOSINGS = """
    best_regards kind_regards warm_regards with_kind_regards with_best_regards regards best_wishes
    warm_wishes many_thanks thanks_a_lot sincerely yours_sincerely yours_faithfully yours_truly
    respectfully lots_of_love xoxo take_care all_the_best
    viele_grüße viele_liebe_grüße liebe_grüße ganz_liebe_grüße beste_grüße herzliche_grüße
    freundliche_grüße schöne_grüße sonnige_grüße mit_freundlichen_grüßen mit_besten_grüßen
    mit_herzlichen_grüßen mit_lieben_grüßen mit_freundlichem_gruß lieben_gruß schönen_gruß
    besten_gruß herzlichen_gruß gruß grüße viele_grüsse liebe_grüsse beste_grüsse
    freundliche_grüsse herzliche_grüsse mit_freundlichen_grüssen grüsse lg vg mfg
    hochachtungsvoll
    cordialement bien_cordialement bien_à_vous bien_à_toi amicalement respectueusement bises bise
    bisous bisou gros_bisous je_t'embrasse je_vous_embrasse confraternellement amitiés cdt
    sincères_salutations meilleures_salutations salutations salutations_distinguées
    saludos un_saludo un_cordial_saludo atentamente cordialmente afectuosamente
    saludos_cordiales un_abrazo un_fuerte_abrazo abrazos besos un_beso muchas_gracias
    cordiali_saluti distinti_saluti cari_saluti tanti_saluti saluti baci un_abbraccio un_bacio
    atenciosamente abraço abraços um_abraço beijos beijinhos cumprimentos cordiais_cumprimentos
    com_os_melhores_cumprimentos melhores_cumprimentos
    met_vriendelijke_groet met_vriendelijke_groeten met_hartelijke_groet vriendelijke_groet
    vriendelijke_groeten hartelijke_groet hartelijke_groeten groet groeten groetjes liefs mvg
    hoogachtend
    pozdrawiam pozdrawiam_serdecznie serdecznie_pozdrawiam pozdrowienia z_poważaniem ściskam
    z_wyrazami_szacunku s_pozdravem s_pozdravom s_úctou zdravím srdečné_pozdravy
    srdačan_pozdrav lijep_pozdrav lep_pozdrav s_poštovanjem pozdrav
    hälsningar vänliga_hälsningar med_vänliga_hälsningar med_vänlig_hälsning bästa_hälsningar
    vänligen kram kramar mvh hilsen hilsner venlig_hilsen vennlig_hilsen med_venlig_hilsen
    med_vennlig_hilsen kærlig_hilsen mange_hilsner beste_hilsen bedste_hilsner knus klem
    terveisin ystävällisin_terveisin parhain_terveisin rakkain_terveisin terveiset
    üdvözlettel tisztelettel szeretettel köszönettel üdv puszi
    saygılarımla saygılarımızla saygilarimla saygilarimizla sevgilerimle
    sevgilerle sevgiler hürmetlerimle selamlar
    iyi_çalışmalar iyi_çalişmalar cu_drag cu_stimă cu_respect salutări toate_cele_bune
    lugupidamisega parimate_soovidega ar_cieņu pagarbiai salutacions una_abraçada
    thân_mến trân_trọng thân_ái hormat_saya salam_hangat wako
    с_уважением с_наилучшими_пожеланиями с_любовью целую обнимаю всего_доброго всего_хорошего
    искренне_ваш искренне_ваша з_повагою цілую щиро_ваш щиро_ваша з_найкращими_побажаннями
    с_уважение поздрави поздрав с_поштовањем
    φιλιά πολλά_φιλιά με_εκτίμηση φιλικά χαιρετισμούς με_αγάπη
"""
# Which are also words of sentences: a given name follows, or a line of its own.
_THANKS = """
    best cheers thanks thank_you yours love hugs danke dein deine euer eure ihr ihre merci gracias
    grazie obrigado obrigada dank bedankt dzięki dziękuję děkuji ďakujem hvala tack tak takk kiitos
    köszönöm teşekkürler mulțumesc спасибо дякую ευχαριστώ firmado signed gezeichnet gez signé
    твой твоя ваш ваша
"""
_GREETING_LIST = """
    dear hi hello hey hiya good_morning good_afternoon good_evening morning liebe lieber liebes
    hallo hi servus moin guten_tag guten_morgen guten_abend sehr_geehrte sehr_geehrter
    sehr_verehrte sehr_verehrter werte werter grüß_gott grüezi
    bonjour cher chère salut bonsoir coucou hola buenos_días buenas_tardes buenas_noches estimado
    estimada querido querida apreciado apreciada ciao caro cara carissimo carissima gentile
    gentilissimo gentilissima egregio buongiorno buonasera olá oi bom_dia boa_tarde prezado
    prezada beste geachte lieve hoi dag goedemorgen cześć drogi droga szanowny szanowna witaj
    dzień_dobry dzien_dobry dobry_wieczór hej hejsan tjena kära käre bästa hei hejsa kjære kære
    god_dag goddag god_morgen god_morgon god_kväll ahoj čau dobrý_den dobrý_deň dobré_ráno
    dobré_odpoledne dobrý_večer dobar_dan buon_giorno buona_sera boa_noite goedenavond goedemiddag
    hyvää_päivää jó_napot jó_reggelt jó_estét bună_ziua iyi_günler günaydın milý milá
    vážený vážená drahý drahá szia sziasztok kedves tisztelt hyvä moikka moi sayın sayin
    sevgili merhaba
    selam dragă stimate stimată bună kallis lugupeetud gerbiamas cienījamais poštovani
    poštovana dragi draga chào kính_gửi mpendwa habari
    здравствуйте здравствуй привет уважаемый уважаемая дорогой дорогая милый милая добрый_день
    доброе_утро добрый_вечер шановний шановна дорогий дорога любий люба вітаю привіт здравей здраво
    αγαπητέ αγαπητή αγαπητό γεια γεια_σου γεια_σας αξιότιμε αξιότιμη καλημέρα καλησπέρα
    szanowni szanowne drodzy drogie vážení drazí milí chers chères estimados estimadas queridos
    queridas egregi prezados prezadas уважаемые дорогие шановні дорогі
"""
_TITLED_LIST = """
    pan pani pán paní panie pane fru herra rouva bey hanım chị anh cô ông bà em bác mwalimu bwana
    bibi domnule doamnă doamna gospodine gospođo gospod gospa пан пані пане госпожа господин
    господине κύριε κυρία
"""
_CLOSED, _THANKED = any_of(_CLOSINGS), any_of(_THANKS)
_REGARDS = any_of(_CLOSINGS, _THANKS)
_GREETINGS = any_of(_GREETING_LIST)
_TITLES = rf"(?:{WRITTEN_TITLE}|{any_of(_TITLED_LIST)})"
# Cara, Caro and Cher are names, too, and so are Dragi and Milý.
_NAMES_TOO = r"(?!(?:car[ao]|cher|drag[aăi]|mil[aáý]|dag|moi|kallis|bise|люба)\b)"
_GREETING = re.compile(rf"{_NAMES_TOO}{_GREETINGS}(?!\w)", re.IGNORECASE)
# What stands before a name, and is called so beside it: Officer Tran, Oma Traudl.
_CALLED = any_of(
    TITLES,
    """
    dott.ssa prof.ssa sig.ra sig.na dr.ssa
    nurse officer ofc coach sister brother uncle aunt auntie grandma grandpa detective
    sergeant sgt captain capt lieutenant constable inspector pastor father deacon rabbi imam judge
    petitioner respondent plaintiff defendant executor tenant landlord patient ceo cfo cto
    president
    mieter mieterin vermieter vermieterin kundin patientin bruder schwester oma opa onkel tante
    nachbar nachbarin kollege kollegin pfarrer lehrer lehrerin
    richter richterin zeuge zeugin fam familie enkel enkelin
    tonton tata mémé pépé mamie papi maître docteur frère sœur soeur oncle père
    tío tía abuela abuelo hermano hermana doctora doctor padre zio zia nonna nonno suor fra
    tia avó avô vovó vovô dra dona juf meester oom broer zus zuster mevrouw mevr meneer dhr
    pan pani pán paní ciocia wujek babcia dziadek teta strýc babička
    bestemor bestefar farmor farfar mormor morfar moster faster tant
    hanım bey abla abi amca teyze bapak pak ibu bu mbak chị cô
    """,
)
_LEAD = re.compile(
    rf"(?:{_CALLED}(?!\w)(?:\.?\s++|\.|\Z)|{_NAMES_TOO}{_GREETINGS}(?!\w)[\s,]++"
    rf"|{_CLOSED}(?!\w)[\s,.!]++)*",
    re.IGNORECASE,
)
_CLOSES = re.compile(rf"(?:.*[.,!?\s])?{_CLOSED}", re.IGNORECASE | re.DOTALL)


def skip_lead(text: str, start: int, end: int) -> int:
    """Return where the name of a finding begins, after greetings, closings, titles and relations.

    >>> [text[skip_lead(text, 0, len(text)) :] for text in ("Hej Gunvor", "Oma Traudl", "Ada")]
    ['Gunvor', 'Traudl', 'Ada']
    """
    return _LEAD.match(text, start, end).end()  # type: ignore[union-attr]


def is_closing(words: str) -> bool:
    """Tell if a finding ends in a closing: `Gute Reise. Mit freundlichen Grüßen`."""
    return len(words) < 80 and _CLOSES.fullmatch(words) is not None


_ADDRESSED = re.compile(
    rf"(?<!\w)(?:{_NAMES_TOO}{_GREETINGS}[ ,]{{1,2}}(?:{_TITLES}\.? )?"
    rf"|{_CLOSED}[,.!]?\s{{1,3}})\Z",
    re.IGNORECASE,
)


def is_addressed(text: str, low: int, start: int) -> bool:
    """Tell if a greeting or a closing ends at a place of a text: what follows is a name.

    >>> [is_addressed(text, 0, len(text)) for text in ("Cześć ", "Groetjes, ", "King ")]
    [True, True, False]
    """
    return _ADDRESSED.search(text, low, start) is not None


_HEAD = re.compile(
    rf"(?:{_TITLES}\.? )?(?P<part>(?:[^\W\d_a-z]\. ?){{0,2}}[^\W\d_a-z][^\W\d_]{{0,20}}"
    rf"(?:[ -](?:[^\W\d_a-z]\.|{any_of(*PARTICLES)}|[^\W\d_a-z][^\W\d_'’]{{1,20}})){{0,4}})"
)
_LONGEST_HEAD = 60  # characters


_BESIDE = " \t\r\n>*,"
_SURELY_PREMISES = PREMISES - PREMISES_BORNE


def _names_premises(names: Sequence[str]) -> bool:
    """Tell if words above an address name what is there: `Town Hall`, not `Ada Hall`."""
    plain = [word.lower() for word in names]
    if not _SURELY_PREMISES.isdisjoint(plain):
        return True
    return plain[-1] in PREMISES_BORNE and not is_given(names[0])


def _is_addressee(words: str) -> bool:
    """Tell if words above an address are a person's name: it begins with a given name, or with a
    surname of Vietnam, Korea or China, or is a surname behind an initial.

    >>> [_is_addressee(name) for name in ("Ada Winter", "Tran Van Hai", "Town House")]
    [True, True, False]
    """
    names = [word for word in re.split("[ -]", words) if not word.endswith(".")] or [words]
    if has_family_first(names):
        return True
    if _names_premises(names) or is_role(words):
        return False
    ordinary = [is_ordinary_word(word) for word in names]
    if len(names) < 2:  # K. Oduya
        return words != names[0] and not ordinary[0]
    things = ordinary[-1] and (ordinary[0] or any(ordinary[1:-1]))
    return is_given(names[0]) and not things


def find_addressees(text: str, addresses: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Yield the names in lines above addresses, at the head of a letter or a block in it.

    Args:
        addresses: where addresses begin.

    >>> text = "Ada Winter\\n12 Rose Lane\\n"
    >>> [text[start:end] for start, end in find_addressees(text, [11])]
    ['Ada Winter']
    """
    for place in addresses:
        line = text.rfind("\n", 0, place) + 1
        above = text.rfind("\n", max(0, line - _LONGEST_HEAD - 2), max(0, line - 1)) + 1
        if not line or text[line:place].strip(_BESIDE) or line - above > _LONGEST_HEAD:
            continue
        start = above + len(text[above:line]) - len(text[above:line].lstrip(_BESIDE))
        end = above + len(text[above:line].rstrip(_BESIDE))
        name = _HEAD.fullmatch(text, start, end)
        if name and _is_addressee(name["part"]):
            yield name.span("part")


def is_role(words: str) -> bool:
    """Tell if words name a role that letters go to, or a department, and nobody: customers,
    parents, neighbours.

    >>> [is_role(words) for words in ("Gäste", "Madame", "Il Servizio Clienti", "Wiebke")]
    [True, True, True, False]
    """
    plain = words.lower().split()
    return all(word in _NO_SIGNERS for word in plain) or not DEPARTMENTS.isdisjoint(plain)


def is_greeting(text: str, start: int, end: int) -> bool:
    """Tell if a finding is a greeting or the beginning of one, and nobody's name.

    >>> [is_greeting(text, 0, len(text)) for text in ("Hallo", "Guten Tag", "Cara", "Anna")]
    [True, True, False, False]
    """
    greeting = _GREETING.match(text, start)
    return greeting is not None and greeting.end() >= end


# Who signs or is addressed besides persons.
_NO_SIGNERS = words_of(
    """
    admin administrator webmaster postmaster noreply
    team redaktion vorstand geschäftsleitung verwaltung schatz mama papa oma opa eltern familie
    chef kundenservice kundendienst équipe direction direktion service equipo dirección equipe
    direzione redazione zespół redakcja tým teamet laget csapat ekibi echipa команда
    администрация редакция керівництво dank grüße bis aus an euer ihr dein leser leserin
    interessent interessenten kollegium mitglieder nachbarn hörer bewerber bewerberin beaucoup
    mille infiniment mucho schön sehr meu pessoal gente galera amore tesoro
    chérie chéri kochanie skarbie państwo miláčku älskling vänner kaikki mindenki arkadaşlar
    herkes dostum canım yetkili mieszkańcy
    vásárlónk vásárló ügyfelünk kollégák czytelniku czytelnicy czytelnik müşterimiz zákazníku
    unterschrift signature firma fragesteller fragestellerin ratsuchende ratsuchender
    vorsitzender vorsitzende kassenwart schriftführer schriftführerin schatzmeister
    schatzmeisterin
    друзья коллеги клиент клиенты друг подруга читатель гость
    kunde kunden kundin kundinnen gäste gast eltern freunde nachbar nachbarin kollege kollegin
    kollegen vermieter mieter welt customer customers client clients clientes cliente clienti
    parents voisin voisine voisins collègues madame monsieur messieurs mesdames mundo vecino
    vecinos vecina amigos amigas padres professore professoressa professor signore signora
    signori genitori amici buren buur klant klanten gasten ouders kliencie klienci
    sąsiedzi sąsiedzie rodzice rodiče üyemiz üyelerimiz müşterilerimiz komşular kund kunder grannar
    venner kolleger föräldrar
    """
)
_BOUNDARY = r"(?m:^|(?<=[.!?…;:)»”\"] )|(?<=\\n)|(?<=[。！？]))[ \t>*_]{0,4}"
_SIGNED = r"(?=[ \t*_]{0,4}[.!]?[ \t*_]{0,4}(?:\(|\r?\n|\\n|[\"'”’»<|]|\Z))"
# The name of a letter in a script without capitals: up to four words, at the end of a line.
_UNCASED = (
    "\u0590-\u05ff\u0600-\u06ff\u0900-\u097f\u0980-\u09ff\u0a00-\u0dff\u0e00-\u0eff\u10a0-\u10ff"
    "\u0530-\u058f"
)
_UNCASED_WORD = rf"[{_UNCASED}\u200c]{{2,20}}"
_UNCASED_NAME = rf"(?P<part>{_UNCASED_WORD}(?:[ -]{_UNCASED_WORD}){{0,3}})"
_UNCASED_CLOSINGS = any_of(
    """
    مع_تحياتي مع_التحية تحياتي مع_خالص_التحية مع_الشكر المخلص المخلصة أخوك أختك
    با_احترام با_تشکر با_سپاس ارادتمند دوستدار_شما والسلام
    בברכה בתודה בכבוד_רב שלך נשיקות באהבה
    सादर आपका आपकी भवदीय भवदीया শুভেচ্ছা বিনীত ইতি শুভেচ্ছান্তে
    অভিনন্দন അഭിവാദ്യങ്ങളോടെ அன்புடன்
    ด้วยความเคารพ ด้วยความนับถือ ขอแสดงความนับถือ
    პატივისცემით სიყვარულით հարգանքով
    """
)
_UNCASED_GREETINGS = any_of(
    """
    عزيزي عزيزتي حضرة جناب سرکار לכבוד יקירי יקירתי
    प्रिय आदरणीय माननीय প্রিয় শ্রদ্ধেয় அன்புள்ள ప్రియమైన પ્રિય ਪਿਆਰੇ
    สวัสดีคุณ เรียนคุณ สวัสดีค่ะคุณ สวัสดีครับคุณ ძვირფასო პატივცემულო ბატონო ქალბატონო
    հարգելի սիրելի
    """
)
# Teams and customers; a word with the Arabic article is no given name.
_NO_UNCASED = re.compile(
    r"(?:ال|لل)\w|(?:"
    + any_of(
        """
        فريق إدارة شركة صديقي صديقتي أصدقائي زملائي يا بكم بك لك لكم عليكم جميعا أحبتي تیم شرکت
        مدیریت دوستان دوست همه بر کاربر مشتری همکار همکاران همگی خدمت عزیزم
        צוות הנהלת חברת לכולם כולם רב רבה לך לכם עליכם חברים עולם לקוח לקוחות קורא ידידי מה
        אני שמי תודה אחי
        टीम प्रबंधन मित्र मित्रों दोस्त दोस्तों ग्राहक महोदय महोदया सर मैडम पाठक छात्र सभी
        টিম দল বন্ধু বন্ধুরা গ্রাহক পাঠক মহোদয় সবাই আপনাকে আপনার
        ทีม ทุกคน ลูกค้า กลุ่ม მეგობარო მეგობრებო მომხმარებელო გუნდი ყველას მკითხველო
        """
    )
    + rf")(?![\w{MARKS}])"
)


def _is_greeted(name: str) -> bool:
    return is_given_name(name) and _NO_SIGNERS.isdisjoint(name.lower().split(" "))


def _is_signer(name: str) -> bool:
    """Tell if words after a closing name a person: no team, and no noun alone."""
    words = [word.strip(".'’").lower() for word in re.split(r"[ -]+", name)]
    if any(word in _NO_SIGNERS or is_label_alone(word) for word in words):
        return False
    return is_given_name(name) and not (
        len(words) == 1 and is_ordinary_word(words[0]) and not is_given(words[0])
    )


def _is_thanked(name: str) -> bool:
    """Tell if words after thanks name a person, by a given name."""
    return _is_signer(name) and is_given(re.split(r"[ -]", name)[0])


def _is_small_signer(name: str) -> bool:
    return is_lower_name(name) and is_given(name)


def _is_uncased_name(name: str) -> bool:
    return not any(_NO_UNCASED.match(word) for word in name.split(" "))


_ESCAPED = any_string("\\n")  # in JSON, where it joins the word after it
_GREETING_CLUE = any_clue(any_listed(_GREETING_LIST), _ESCAPED)
_CLOSING_CLUE = any_clue(any_listed(_CLOSINGS, _THANKS), _ESCAPED)

LETTERS = (
    shape(
        "PERSON",
        rf"(?m:^|(?<=[>\"'`])|(?<=\\n)|(?<=[.!?\n] ))[ \t>*_\"'(]{{0,4}}"
        rf"(?i:{_GREETINGS})[ ,]{{1,2}}"
        rf"(?:(?i:{_TITLES})\b\.? ?){{0,3}}(?P<part>{WRITTEN_NAME})"
        rf"(?=[,!:.\n–-]|[ ]?\Z| and | und | et | y | e | i | och | og | ja | és )",
        _is_greeted,
        clue=_GREETING_CLUE,
        reach=24,
    ),
    shape(
        "PERSON",
        rf"(?m:^|(?<=[.!?\\] )|(?<=\\n))[ \t>*]{{0,4}}(?i:{_REGARDS})[,.!]{{0,2}}[ \t]{{0,2}}"
        rf"(?:(?:\r?\n|\\n)[ \t>*–-]{{0,4}}){{1,3}}(?:(?i:{_TITLES})\b\.? ?){{0,3}}"
        rf"(?P<part>{WRITTEN_NAME})(?=[ \t]{{0,3}}(?:\(|,|\r?\n|\\|\Z|<))",
        _is_greeted,
        clue=_CLOSING_CLUE,
        reach=40,
    ),
    shape(  # in one line: Groetjes Tjitske, Bises, Tiphaine
        "PERSON",
        rf"{_BOUNDARY}(?i:{_CLOSED})[,.!]?[ \t]{{1,2}}(?:[–—-] ?)?"
        rf"(?:(?i:{_TITLES})\b\.? ?){{0,3}}(?P<part>{WRITTEN_NAME}){_SIGNED}",
        _is_signer,
        clue=_CLOSING_CLUE,
        reach=40,
    ),
    shape(  # Danke, Levke; Viele Grüße deine Levke
        "PERSON",
        rf"(?:{_BOUNDARY}|(?<=[\w,] ))(?:(?i:{_CLOSED})[,.!]? )?(?i:{_THANKED})[,.!:]?[ \t]{{1,2}}"
        rf"(?:(?i:{_TITLES})\b\.? ?){{0,3}}(?P<part>{WRITTEN_NAME})(?=[.!]?\s*\Z|\n[ \t]*\n)",
        _is_thanked,
        clue=_CLOSING_CLUE,
        reach=70,
    ),
    shape(  # lg levke
        "PERSON",
        rf"(?<!\w)(?i:{_CLOSED})[,.!]?[ \t]{{1,2}}(?P<part>{WRITTEN_LOWER}){_SIGNED}",
        _is_small_signer,
        clue=_CLOSING_CLUE,
        reach=40,
    ),
    shape(
        "PERSON",
        rf"(?m:^)[ \t>*]{{0,4}}(?i:{_REGARDS})[,.!]{{0,2}}[ \t]{{0,2}}"
        rf"(?:\r?\n[ \t>–-]{{0,4}}){{1,3}}"
        rf"(?P<part>{WRITTEN_LOWER}(?: {WRITTEN_LOWER}){{0,2}})(?=[ \t]{{0,3}}(?:\r?\n|\Z))",
        lambda name: all(map(is_lower_name, name.split())),
        clue=_CLOSING_CLUE,
        reach=40,
    ),
    shape(  # בברכה, אסנת
        "PERSON",
        rf"(?<![\w{MARKS}]){_UNCASED_CLOSINGS}(?:[,،] ?|[,،.!]?\r?\n\s?){_UNCASED_NAME}"
        rf"(?=[.।!]?\s*(?:\n|\Z))",
        _is_uncased_name,
        clue=all_clues(beyond_latin, any_match(rf"[{_UNCASED}]")),
    ),
    shape(  # প্রিয় সুচরিতা,
        "PERSON",
        rf"(?m:^|(?<=[.!?।\"“] ))[ \t\"“]{{0,4}}{_UNCASED_GREETINGS} {_UNCASED_NAME}"
        r"(?=[,،!:：\n])",
        _is_uncased_name,
        clue=all_clues(beyond_latin, any_match(rf"[{_UNCASED}]")),
    ),
    shape(  # שלום צביה,
        "PERSON",
        r"(?m:^)[ \t]{0,4}שלום (?P<part>[\u05d0-\u05ea]{2,14}),",
        _is_uncased_name,
        clue=any_string("שלום"),
        reach=6,
    ),
)
