"""Find names of persons in scripts other than Latin: by honorifics, patronymics, introductions."""

from __future__ import annotations

from perturb.selective.patterns.clues import any_match, any_string
from perturb.selective.patterns.shape import shape, words_of

__all__ = ["SCRIPTS"]

_HAN = "\u3400-\u9fff"
# Frequent surnames, in simple and in full characters.
_CHINESE = (
    "王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶"
    "阎余潘杜戴夏钟汪田任姜范方石姚谭廖邹熊金陆郝孔白崔康毛邱秦江史顾侯邵孟龙万段雷钱汤尹黎易常武乔贺赖"
    "龚文張劉陳楊趙黃吳孫馬羅鄭謝馮許蘇盧蔣賈葉鍾陸龍萬錢湯賴"
)
_KOREAN = (
    "김이박최정강조윤장임한오서신권황안송류전홍고문양손배백허유남심노하곽성차주우구민진나지엄채원천방공현함변염"
    "여추도소석선설마길연위표명기반왕금옥육인맹제모"
)
_CHINESE_TITLES = (
    "先生|女士|小姐|太太|老师|老師|教授|医生|醫生|经理|經理|律师|律師|同学|同學|博士|主任"
)
_JAPANESE_TITLES = (
    "さん|様|さま|氏(?![名族])|くん|君(?![{_HAN}])|ちゃん|殿|先生|部長|課長|社長".replace(
        "{_HAN}", _HAN
    )
)
_NO_JAPANESE = words_of(
    """
    患者 店員 看護師 医者 本屋 業者 大家 職人 運転手 花屋 魚屋 奥様 皆様 相手 利用者 担当者
    関係者 読者 旦那 息子 社員 学生 生徒 先輩 後輩 隣人 何者 会員 住民 客室 高校 中学 大学
    小学校 担任 校長 ペット ファン ママ パパ オーナー スタッフ ドライバー メンバー ユーザー
    パン ケーキ クライアント
    """
)
_NO_KOREAN = words_of(
    """
    고객 선생 사장 교수 기사 주인 부모 원장 과장 부장 대표 이사 팀장 실장 회원 하나 의원 장관
    임금 도련 공주 신부 목사 스승 서방 이모 고모 조교 원어민 이용자 신청자 방문객 지원자
    """
)
_CYRILLIC = "А-ЯЁІЇЄҐЎЂЈЉЊЋЏ"
_SMALL = "а-яёіїєґўђјљњћџ"
_WORD = rf"[{_CYRILLIC}][{_SMALL}]{{1,24}}(?:-[{_CYRILLIC}][{_SMALL}]{{1,24}})?"
_INITIALS = rf"[{_CYRILLIC}]\. ?[{_CYRILLIC}]\."
# Russian and Ukrainian, in all cases.
_PATRONYMIC = (
    rf"[{_CYRILLIC}][{_SMALL}]{{2,16}}(?:(?:ович|евич|ьич|ійович)(?:а|у|ем|ом|е|і)?"
    r"|(?:овн|евн|ичн|инічн|ївн|івн)(?:а|ы|е|у|ой|ою|и|і))"
)
# The stems of the surnames that every reader knows.
_FAMOUS = tuple(
    words_of(
        """
        Пушкин Толст Достоевск Чехов Гогол Лермонтов Тургенев Ленин Сталин Путин Горбач Хрущ
        Менделеев Чайковск Гагарин Ломоносов Булгаков Рахманинов Стравинск Прокофьев Шостакович
        Мусоргск Павлов Сахаров Солженицын Пастернак Маяковск Есенин Набоков Бунин Брежнев Ельцин
        Троцк Кутузов Суворов Королёв Королев Циолковск Лобачевск Чебышёв Чебышев Колмогоров
        Ландау Репин Айвазовск Шишкин Кандинск Малевич Эйзенштейн Тарковск Шевченк Франк
        Хмельницк Бандер Зеленськ Зеленск Котляревск Витте Столыпин Ключевск Карамзин Колчак
        Римск Бородин Глинк Бах Моцарт Бетховен Капиц Вернадск Сеченов Пирогов Жуковск
        Радищев Салтыков Островск Некрасов Ахматов Цветаев Мандельштам Гумил Бродск Куприн Шолохов
        Грибоедов Крылов Фонвизин Рокоссовск Ушаков Нахимов Потёмкин Сперанск Аракчеев Бакунин
        Плеханов Керенск Каменев Бухарин Берия Хачатурян Врубел Левитан Мичурин
        """
    )
)


def _is_not_famous(name: str) -> bool:
    return not any(word.startswith(_FAMOUS) for word in name.split())


def _is_japanese_name(name: str) -> bool:
    if any(c in name for c in "是么的了不我你他这這"):  # Chinese
        return False
    return name not in _NO_JAPANESE and not name.endswith(("屋", "者", "員", "師", "生", "手"))


def _is_korean_name(name: str) -> bool:
    return name not in _NO_KOREAN and not name.endswith(("장", "사", "자"))


_ARABIC = "[\u0621-\u064a]{2,14}"
_HEBREW = "[\u05d0-\u05ea]{2,14}"
_DEVANAGARI = "[\u0900-\u0963]{2,16}"
_THAI = "[\u0e01-\u0e4e]"
_NO_TITLED = words_of(
    """
    الرئيس الوزير المدير القاضي رئيس وزير مدير
    היושב השופט ראש
    """
)

SCRIPTS = (
    shape(
        "PERSON",
        rf"(?<![{_CHINESE}])(?P<part>[{_CHINESE}][{_HAN}]{{0,2}}?)(?:{_CHINESE_TITLES})",
        clue=any_match(_CHINESE_TITLES),
        reach=(8, 8),
    ),
    shape(
        "PERSON",
        rf"(?:我叫|名叫|我是|姓名是|本人)(?P<part>[{_CHINESE}][{_HAN}]{{1,2}})(?=[，。,.！!；;、\s]|\Z)",
        clue=any_string("叫", "我是", "姓名是", "本人"),
        reach=(4, 8),
    ),
    shape(
        "PERSON",
        rf"(?<![{_HAN}\u30a0-\u30ff])(?P<part>[{_HAN}]{{2,5}}|[\u30a1-\u30fa\u30fc]{{2,10}})"
        rf"(?: ?(?:{_JAPANESE_TITLES})|と申します|といいます)",
        _is_japanese_name,
        clue=any_match(rf"{_JAPANESE_TITLES}|と申し|といい"),
        reach=(14, 10),
    ),
    shape(
        "PERSON",
        rf"(?<![가-힣])(?P<part>[{_KOREAN}][가-힣]{{1,3}}) ?(?:씨|님|군|양)(?![가-힣]{{2}})",
        _is_korean_name,
        clue=any_match("[씨님군양]"),
        reach=(8, 6),
    ),
    shape(
        "PERSON",
        rf"(?:이름은|저는|나는) (?P<part>[{_KOREAN}][가-힣]{{1,2}})"
        r"(?:입니다|이에요|예요|이라고|라고|이고)",
        _is_korean_name,
        clue=any_string("이름은", "저는", "나는"),
        reach=(2, 14),
    ),
    shape(
        "PERSON",
        # A surname stands before or after both; `Позвоните` is none.
        rf"(?<!\w)(?:{_WORD} {_PATRONYMIC} {_WORD}"
        rf"|(?:(?!\w{{1,20}}те ){_WORD} )?{_WORD} {_PATRONYMIC}(?! {_WORD})|{_PATRONYMIC})(?!\w)",
        _is_not_famous,
        clue=any_match("(?:ович|евич|ьич|овн|евн|ичн|инічн|ївн|івн)"),
        reach=(80, 40),
    ),
    shape(  # Т. Ю. Берестова, Берестова Т. Ю.
        "PERSON",
        rf"(?<!\w)(?:{_INITIALS} ?{_WORD}|{_WORD} {_INITIALS}(?! ?{_WORD}))",
        _is_not_famous,
        clue=any_match(_INITIALS),
        reach=(60, 60),
    ),
    shape(
        "PERSON",
        r"(?<!\w)(?:[гГ]-н[ауо]?|[гГ]-ж[аеуи]|[гГ]осподин[ауе]?|[гГ]оспож[аеуи]|[пП]ан[аеиуі]?"
        rf"|κ\.|[κΚ]ύριο[ςυ]|[κΚ]υρία[ς]?) (?P<part>(?:{_WORD}|[Α-Ω][α-ώ]{{2,20}})"
        rf"(?: (?:{_WORD}|[Α-Ω][α-ώ]{{2,20}})){{0,2}})",
        _is_not_famous,
        clue=any_string("г-н", "г-ж", "господин", "госпож", "пан", "κ.", "κύριο", "κυρία"),
        reach=(2, 90),
    ),
    shape(
        "PERSON",
        r"(?<!\w)(?:السيد|السيدة|الدكتور|الدكتورة|الأستاذ|الأستاذة|الآنسة|اسمي"
        r"|מר|גב'|גברת|ד\"ר|פרופ'"
        r"|עו\"ד|שמי|קוראים לי) "
        rf"(?P<part>{_ARABIC}(?: {_ARABIC})?|{_HEBREW}(?: {_HEBREW})?)(?!\w)",
        lambda name: name.split()[0] not in _NO_TITLED,
        clue=any_match("[\u0627\u05d0-\u05ea]"),
    ),
    shape(
        "PERSON",
        r"(?<!\w)(?:श्री|श्रीमती|सुश्री|डॉ\.?|मेरा नाम) "
        rf"(?P<part>{_DEVANAGARI}(?: (?!है){_DEVANAGARI})?)",
        clue=any_match("[\u0900-\u0963]"),
    ),
    shape(
        "PERSON",
        rf"(?:นาย|นางสาว|นาง|คุณ|ชื่อ)(?P<part>{_THAI}{{2,16}} {_THAI}{{2,24}})",
        clue=any_match(_THAI),
    ),
)
