"""Persons in what is said to them and of them: introductions, what one does with somebody or
somebody has done, and a given name that stands alone.
"""

from __future__ import annotations

import re

from perturb.selective.patterns.given import (
    is_given,
    is_ordinary_word,
    is_word_elsewhere,
    may_be_given,
    names_thing,
    stands_alone,
)
from perturb.selective.patterns.persons.relatives import RELATED_NOUNS, RELATIONS
from perturb.selective.patterns.persons.written import (
    ALSO_WORDS,
    CAPITALS,
    NO_NAMES,
    WRITTEN_FULL,
    WRITTEN_LOWER,
    WRITTEN_NAME,
    WRITTEN_STRANGE,
    WRITTEN_TITLE,
    is_dealt_with,
    is_full_name,
    is_given_name,
    is_lower_name,
    is_of_life,
    is_strange,
)
from perturb.selective.patterns.shape import (
    any_listed,
    any_of,
    any_string,
    any_word,
    read_around,
    shape,
    words_of,
)
from perturb.selective.patterns.words import CHATTED
from perturb.text.fold import fold_name

__all__ = ["ALONE", "SPOKEN", "locate_alone"]

_INTRODUCTIONS = any_of(
    """
    my_name_is my_name's my_full_name_is his_name_is her_name_is whose_name_is name_is
    their_name_is mein_name_ist ich_heiße ich_heisse er_heißt sie_heißt namens je_m'appelle
    je_m’appelle il_s'appelle elle_s'appelle mon_nom_est me_llamo se_llama mi_nombre_es un_tal
    una_tal llamado llamada mi_chiamo si_chiama meu_nome_é nazywam_się mám_jméno jmenuji_se
    mijn_naam_is ik_heet jag_heter меня_зовут его_зовут её_зовут ask_for speak_to speak_with
    a_man_named a_man_called a_woman_named a_woman_called a_guy_named a_guy_called a_lady_named
    a_lady_called a_girl_named a_girl_called a_boy_named a_boy_called someone_named someone_called
    known_as signed_by written_by prepared_by reported_by fixed_by on_behalf_of in_the_name_of
    a_nombre_de im_namen_von au_nom_de care_of c/o rückfragen_an inh. inhaber inhaberin
    kontoinhaber kontoinhaberin
    first_name's first_name_is surname_is last_name_is
    jeg_hedder jeg_heter mit_navn_er mitt_namn_är nimeni_on a_nevem adım benim_adım ismim
    mă_numesc numele_meu_este jina_langu_ni nama_saya με_λένε ονομάζομαι
    """
)
# What introductions hold; a blank is written `_`.
_INTRODUCTION_STEMS = words_of(
    """
    name_is name's name_ist name_é nom_est nombre_es nome_é heiß heiss appelle llam chiam namens
    named naam_is called ask_for speak known_as _by behalf heet heter c/o inh зовут un_tal una_tal
    hedder navn_er namn_är nimeni nevem adım adim ismim numesc numele_meu jina_langu nama_saya λένε
    ονομάζομαι nazywam jmenuji jméno im_namen a_nombre in_the_name au_nom care_of rückfragen
    """
)
_INTRODUCED = re.compile(rf"(?<!\w){_INTRODUCTIONS} \Z", re.IGNORECASE)
# What one does with a person, whatever the name: send it to, a contract with, a poem for.
_DEALT = (
    r"(?:(?:send|give|hand|forward|return|deliver|show|lend|sell|assign|award)(?:s|ing)?"
    r" (?:(?:it|them|this|that|these|those|one|some|(?:the|a|an|this|my|our) [a-z]{2,15}) )?to"
    r"|(?:sent|gave|handed|forwarded|returned|showed|lent|sold|assigned|owe[sd]?|pa(?:y|id))"
    r"(?: (?:it|them|this|that|(?:the|a|an|my|our) [a-z]{2,15}) to)?"
    r"|(?:write|wrote|reply|replied|respond(?:ed)?|talk(?:ed)?|talking|spoke|speak|speaking"
    r"|apologi[sz]ed?) (?:to|with)"
    r"|(?:contract|lease|agreement|dispute|appointment|meeting|interview|call|lunch|dinner|date)"
    r" with"
    r"|(?:poem|card|toast|speech|gift|present|eulogy|letter|email|e-mail|message|note|invoice"
    r"|reference|contract|invitation|recommendation) (?:for|to|from)"
    r"|(?:ask|tell|remind|thank|invite|phone|congratulate|notify|inform|hire|fire|promote|marry)"
    r"|(?:asked|told|reminded|thanked|invited|phoned|notified|informed|hired|fired|promoted)"
    r"|married|met|whether|signed by|according to|on behalf of)"
)
_DEALT_WORDS = """
    send sends sending give gives giving hand forward return deliver show lend sell assign award
    sent gave handed forwarded returned showed lent sold assigned owe owes owed pay paid write
    wrote reply replied respond responded talk talked talking spoke speak speaking apologize
    apologise apologized apologised contract lease agreement dispute appointment meeting interview
    call lunch dinner date poem card toast speech gift present eulogy letter email mail message
    note invoice reference invitation recommendation ask tell remind thank invite phone
    congratulate notify inform hire fire promote marry asked told reminded thanked invited phoned
    notified informed hired fired promoted married met whether signed according behalf
"""
# What somebody has done, right after the name. Firms, too, have said something.
_DID = (
    r" (?:was late|is late|has(?:n['’]t| not)? (?:paid|called|replied|signed|left|resigned)|called"
    r"|wrote|asked|phoned|texted|emailed|resigned|retired|died|married|got (?:married|fired|hired)"
    r"|is (?:on (?:sick |parental )?leave|ill|sick|pregnant|my|our)|and I)(?!\w)"
)
_DID_WORDS = """
    late paid called replied signed left resigned wrote asked phoned texted emailed retired died
    married got leave ill sick pregnant my our i
"""
# What somebody is told, after their name: thanks, that I am late, to bring it.
_TOLD_THEN = (
    r" (?:that|the|to|about|thanks|thank|sorry|hi|hello|happy|good|congrats|congratulations|if"
    r"|whether|why|how|when|where|what|who|not|i|i['’]m|i['’]ll|we|we['’]re|he|she|his|her|my|our|they|it['’]s"
    r"|for|again|please|tonight|tomorrow|today)(?![\w-])"
)
_ASKED = "fragen anrufen sagen schreiben erreichen bitten treffen einladen abholen gefragt gesehen"
# What minutes leave to somebody.
_DUTIES = """
    check send email e-mail call ring talk speak draft review follow chase ask book order update
    prepare write share confirm organise organize arrange look fix find bring take contact finish
    create add schedule investigate circulate
"""
# A word with a capital that is no part of a longer name, an address or code.
ALONE = rf"(?<![\w'’.@/#&-])(?P<part>{WRITTEN_STRANGE})(?![\w@(/=-]|\.\w|['’](?!s\b))"
_OPENER = re.compile(r"(?:\A|[.!?:;\n\"“„«(•|>*#-])[ \t]{0,8}([^\W\d_]{1,15}),? \Z")
_CAPITAL_BEFORE = re.compile(rf"(?<![\w-])[{CAPITALS}][\w'’.-]{{0,30}},? \Z")
_CAPITAL_AFTER = re.compile(rf" [{CAPITALS}]")
_ASKING_ELSEWHERE = frozenset(("Kada", "Mihin"))  # when, in Croatian; where to, in Finnish


def _locate_mention(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of a handle; None for a variable of an object, in Ruby: `@conn.execute`."""
    around = read_around(match)
    used = re.search(rf"@{match['part']}(?:\.\w|\[| ?(?:\|\|)?=(?!=))", around)
    return None if used else match.span("part")


def _locate_introduced(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of a name after its introduction; None for `also known as NHCB`."""
    alias = match["part"].isupper() and "known as" in match[0].lower()
    return None if alias else match.span("part")


def _locate_lower(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of the names that small letters begin with: `siobhan` of `siobhan said`."""
    end = start = match.start("part")
    for word in match["part"].split(" "):
        if not is_lower_name(word):
            break
        end = start + len(word)
        start = end + 1
    return (match.start("part"), end) if end > match.start("part") else None


def locate_alone(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of a given name without other words with a capital beside it, which may be
    the rest of a well-known name. A word that begins the sentence is none: `Ask Wiebke`."""
    start, end = match.span("part")
    before = match.string[max(0, start - 40) : start]
    if _CAPITAL_AFTER.match(match.string, end) or before.endswith("family="):  # of fonts
        return None
    if match["part"] in _ASKING_ELSEWHERE:
        return None
    if _CAPITAL_BEFORE.search(before):
        opener, related = _OPENER.search(before), before.rstrip().rpartition(" ")[2].lower()
        known = related in RELATIONS or related in RELATED_NOUNS
        if not known and (opener is None or not is_ordinary_word(opener[1])):
            return None
    return start, end


def _locate_lower_given(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of a given name in small letters: of one that is no word of a language, or
    in a line in which somebody speaks of themselves, or writes to somebody."""
    name, text = match["part"], match.string
    start, end = match.span("part")
    if not is_given(name):  # kayleighs baby shower
        name = name.removesuffix("s") if len(name) > 5 and not is_ordinary_word(name) else ""
    if not is_given(name) or fold_name(name) in ALSO_WORDS or is_word_elsewhere(name):
        return None
    if _INTRODUCED.search(text, max(0, start - 24), start):  # found with its surname
        return None
    if len(name) > 3 and stands_alone(name):
        return start, end
    if is_ordinary_word(name):
        return None
    return (start, end) if is_of_life(text, start, end) else None


def _is_told(name: str) -> bool:
    """Tell if a given name is nothing else."""
    return is_given(name) and not names_thing(name) and name.lower() not in NO_NAMES


SPOKEN = (
    shape(  # Please send it to Torvald Ostrander.
        "PERSON",
        rf"(?<![\w-])(?i:{_DEALT}) (?P<part>{WRITTEN_STRANGE} {WRITTEN_STRANGE})"
        rf"(?![\w@(/=-]|\.\w| [{CAPITALS}])",
        is_dealt_with,
        clue=any_listed(_DEALT_WORDS),
        reach=30,
    ),
    shape(  # tell Chase thanks, she covers for June
        "PERSON",
        rf"(?<!\w)(?:(?i:tell|ask|remind|thank|invite|text|told|asked|reminded|thanked|invited|texted)"
        rf" (?P<told>)|(?:to|will|would|can|could|i|I|she|he|we|they|you|[Pp]lease)"
        rf" (?:cover|stand in|fill in|babysit|vouch) for )"
        rf"(?P<part>[{CAPITALS}][^\W\d_{CAPITALS}]{{2,14}})(?(told)(?i:{_TOLD_THEN})"
        r"|(?=[.,;!?)]|\Z| (?:while|when|on|at|today|tonight|tomorrow|this|next|until|if|because"
        r"|since|in|as)(?!\w)))",
        _is_told,
        clue=any_listed(
            "tell ask remind thank invite text told asked reminded thanked invited texted",
            "cover stand fill babysit vouch",
        ),
        reach=12,
    ),
    shape(  # June has resigned
        "PERSON",
        rf"(?<![\w'’.@/#&-])(?P<part>[{CAPITALS}][^\W\d_{CAPITALS}]{{2,14}})"
        r" (?:(?:has|had) (?:resigned|quit|retired|called|phoned|texted|emailed|replied"
        r"|apologi[sz]ed|given notice|moved out)|(?:phoned|texted|emailed|resigned|apologi[sz]ed)"
        r"|(?:is|was) (?:on (?:sick |parental |maternity )?leave|pregnant|off sick))(?!\w)",
        _is_told,
        clue=any_listed(
            "resigned quit retired called phoned texted emailed replied apologized apologised",
            "notice moved leave pregnant sick",
        ),
        reach=40,
    ),
    shape(  # Torvald Ostrander was late again.
        "PERSON",
        rf"(?<![\w'’.@/#&-])(?<![Tt]he )(?P<part>{WRITTEN_STRANGE} {WRITTEN_STRANGE}){_DID}",
        is_strange,
        clue=any_listed(_DID_WORDS),
        reach=80,
    ),
    shape(  # did Imre send it?
        "PERSON",
        rf"(?<![\w-])[Dd]id (?P<part>{WRITTEN_STRANGE})"
        r" (?:send|call|reply|answer|sign|pay|text|phone|ring|mention|tell|e-?mail)(?!\w)",
        lambda name: _is_told(name) and not is_ordinary_word(name),
        clue=any_listed("did"),
        reach=2,
    ),
    shape(  # Imre is ill today
        "PERSON",
        rf"(?<![\w'’.@/#&-])(?P<part>{WRITTEN_STRANGE}) (?:is|was) (?:still )?(?:ill|sick|late)"
        r"(?: (?:today|again|tomorrow|this week|until)(?!\w)|(?=[.,!?;]|\Z))",
        lambda name: _is_told(name) and not is_ordinary_word(name),
        clue=any_listed("ill sick late"),
        reach=40,
    ),
    shape(  # Ask Wiebke for the key.
        "PERSON",
        ALONE,
        stands_alone,
        locate=locate_alone,
    ),
    shape(  # can u tell wiebke im late, a card for gemma's last day
        "PERSON",
        r"(?<![\w'’.@/#&$-])(?P<part>[^\W\d_]{3,15})(?![\w@(/=:$-]|\.\w|['’](?!s\b)|\[)",
        lambda name: name.islower() and name not in CHATTED,
        clue=any_word(may_be_given),
        locate=_locate_lower_given,
        reach=2,
    ),
    shape(  # @wiebke
        "USERNAME",
        r"(?<![\w.@/])@(?P<part>[a-z]{4,15})(?![\w/-]|\.\w)",
        stands_alone,
        clue=any_string("@"),
        locate=_locate_mention,
        reach=4,
    ),
    shape(
        "PERSON",
        rf"(?<!\w)(?i:{_INTRODUCTIONS}) (?:(?i:{WRITTEN_TITLE})\b\.? ?){{0,3}}[\"“„'*_]{{0,2}}"
        rf"(?P<part>{WRITTEN_NAME})",
        is_given_name,
        clue=any_string(*sorted(_INTRODUCTION_STEMS)),
        locate=_locate_introduced,
        reach=40,
    ),
    shape(
        "PERSON",
        rf"(?<!\w)(?i:{_INTRODUCTIONS}|hi,? i['’]?m) (?:(?:mr|mrs|ms|dr|prof)\.? )?"
        rf"(?P<part>{WRITTEN_LOWER}(?: {WRITTEN_LOWER})?)(?![\w'’-])",
        locate=_locate_lower,
        clue=any_string(*sorted(_INTRODUCTION_STEMS), "i'm", "i’m", "im "),
        reach=40,
    ),
    shape(
        "PERSON",
        rf"(?<!\w)(?:I am|I['’]m|This is|this is|it['’]s|It['’]s|Ich bin|ich bin|[Jj]e suis|[Ss]oy"
        rf"|[Ss]ono) (?P<part>{WRITTEN_FULL})(?![\w-])",
        is_full_name,
        clue=any_string(
            "i am", "i'm", "i’m", "is is", "it's", "it’s", "ich bin", "je suis", "soy", "sono"
        ),
        reach=12,
    ),
    shape(  # Hiya, it's Grace from next door
        "PERSON",
        rf"(?<!\w)(?i:hi|hiya|hey|hello),? (?i:it['’]s|this is) "
        rf"(?P<part>[{CAPITALS}][^\W\d_{CAPITALS}]{{1,15}})(?![\w'’-])",
        is_given,
        clue=any_listed("hi hiya hey hello"),
        reach=4,
    ),
    shape(  # Hi, Trev here
        "PERSON",
        rf"(?m:^|(?<=[.!?] ))(?i:hi|hey|hello|hallo|moin),? (?P<part>{WRITTEN_NAME}) "
        r"(?:here|hier|speaking)(?!\w)",
        is_given_name,
        clue=any_listed("here hier speaking"),
        reach=120,
    ),
    shape(  # kannst du svenja fragen
        "PERSON",
        rf"(?<!\w)(?:du|ich|ihr|mal|bitte) (?P<part>{WRITTEN_LOWER}) (?:mal |bitte )?"
        rf"{any_of(_ASKED)}(?!\w)",
        lambda name: is_given(name) and is_lower_name(name),
        clue=any_listed(_ASKED),
        reach=60,
    ),
    shape(  # Marta to check the logs
        "PERSON",
        rf"(?:\A|[\n.,;:•*–-])[ \t]{{0,4}}(?P<part>[{CAPITALS}][^\W\d_{CAPITALS}]{{2,15}}) to "
        rf"(?:{any_of(_DUTIES)})(?!\w)",
        lambda name: is_given(name) and not is_ordinary_word(name),
        clue=any_listed(_DUTIES),
        reach=30,
    ),
    shape(  # pregunta por Gorka
        "PERSON",
        r"(?<!\w)(?i:pregunt[ae]r? por|demande[rz]? (?:à|après)|fragen? (?:sie )?nach"
        r"|chied[ai] di) "
        rf"(?P<part>[{CAPITALS}][^\W\d_{CAPITALS}]{{2,15}})(?![\w'’-])",
        lambda name: is_given(name) and not is_ordinary_word(name),
        clue=any_listed("por à après nach di"),
        reach=24,
    ),
)
