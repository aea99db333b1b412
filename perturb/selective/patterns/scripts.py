"""Find names of persons in scripts other than Latin: by honorifics, patronymics, introductions."""

from __future__ import annotations

import re
from dataclasses import replace

from perturb.selective.patterns.given import list_given
from perturb.selective.patterns.shape import (
    all_clues,
    any_listed,
    any_match,
    any_of,
    any_string,
    beyond_latin,
    shape,
    words_of,
)

__all__ = ["SCRIPTS", "has_surname"]

_HAN = "\u3400-\u9fff"
# Surnames, in simple and in full characters.
_CHINESE = (
    "王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶"
    "阎余潘杜戴夏钟汪田任姜范方石姚谭廖邹熊金陆郝孔白崔康毛邱秦江史顾侯邵孟龙万段雷钱汤尹黎易常武乔贺赖"
    "龚文張劉陳楊趙黃吳孫馬羅鄭謝馮許蘇盧蔣賈葉鍾陸龍萬錢湯賴"
    "樊邬祁蔺骆葛岳庞俞柯翁倪施殷齐梅庄涂耿聂焦鲁辛管祝左关包安蓝裴屈鲍苗欧项阮童桑佟闵褚甘尚楚喻华凌霍兰游"
    "柴娄覃詹詹麦莫冉迟卓靳景宫车卜艾芦窦刁滕荣邢路晏缪宗穆纪席冀应封瞿颜米柏单简饶阳沙戚"
)
_COMPOUND = (
    "(?:欧阳|歐陽|司马|司馬|上官|诸葛|諸葛|尉迟|尉遲|公孙|公孫|慕容|皇甫|令狐|宇文|长孙|司徒"
    "|夏侯|端木|独孤|南宫|澹台|澹臺|鲜于|呼延|轩辕|濮阳)"
)
# As words, these follow a relation as well: `客户方`, `同事常说`, `朋友来`.
_CHINESE_SURE = "".join(
    sorted(
        {*_CHINESE}
        - {*"方应常时经向从于明安成关家戴任许高万易何全单曾平包白金水游华阳路管项车和龙文江石段"}
    )
)
_CHINESE_STOP = (
    "的说在是和最周总就要去给把对也都很有了不会想让跟与及为来到我你他她它们这那从能可着过吗呢吧啊"
    "又还已被将没下上里"
)
_CHINESE_KIN = (
    "房东|室友|同事|男朋友|女朋友|男友|女友|妈妈|爸爸|母亲|父亲|丈夫|妻子|老公|老婆|儿子|女儿|哥哥|姐姐|弟弟|妹妹"
    "|朋友|老板|经理|客户|医生|同学|邻居|上司|主管|组长|员工|患者|病人|学生|被告|原告|收件人(?:写的)?是?|联系人是?|名叫"
)
_NO_CHINESE = words_of(
    """
    欧阳修 司马迁 司马光 司马懿 司马相如 上官婉儿 诸葛亮 诸葛孔明 令狐冲 慕容复 长孙无忌
    宇文化及 司马昭 夏侯惇 夏侯渊 独孤求败 独孤九剑 端木赐 诸葛瑾 诸葛连弩 长孙皇后 欧阳询
    公孙离 公孙胜 公孙瓒
    """
)


def has_surname(name: str) -> bool:
    """Tell if a name of Chinese or Korean begins with a surname: one of one character and a given
    name of two, or one of two.

    >>> [has_surname(name) for name in ("王小明", "남궁민수", "变量名")]
    [True, True, False]
    """
    single = len(name) == 3 and name[0] in _SURNAMES
    return single or re.match(f"{_COMPOUND}|{_KOREAN_COMPOUND}", name) is not None


def _is_chinese_name(name: str) -> bool:
    return not any(name.startswith(known) for known in _NO_CHINESE)


_KOREAN = (
    "김이박최정강조윤장임한오서신권황안송류전홍고문양손배백허유남심노하곽성차주우구민진나지엄채원천방공현함변염"
    "여추도소석선설마길연위표명기반왕금옥육인맹제모탁국목봉변계편"
)
_KOREAN_COMPOUND = "(?:남궁|황보|제갈|선우|독고|사공|서문)"
_KOREAN_FULL = rf"(?:{_KOREAN_COMPOUND}[가-힣]{{1,2}}|[{_KOREAN}][가-힣]{{2}})"
_SURNAMES = frozenset((*_CHINESE, *_KOREAN))  # of one character
_CHINESE_TITLES = (
    "先生|女士|小姐|太太|老师|老師|教授|医生|醫生|经理|經理|律师|律師|同学|同學|博士|主任"
)
_JAPANESE_TITLES = (
    "さん|様|さま|氏(?![名族])|くん|君(?![{_HAN}])|ちゃん|殿|先生|部長|課長|社長".replace(
        "{_HAN}", _HAN
    )
)
# Frequent surnames; not those that are places, such as 千葉, or single characters.
_JAPANESE = any_of(
    """
    佐藤 鈴木 高橋 田中 伊藤 渡辺 渡邊 山本 中村 小林 加藤 吉田 山田 佐々木 井上 木村 斎藤 斉藤
    清水 山崎 池田 橋本 阿部 山下 中島 石井 小川 前田 岡田 長谷川 藤田 後藤 近藤 村上 遠藤 青木
    坂本 福田 太田 西村 藤井 金子 岡本 藤原 三浦 原田 松田 竹内 中山 和田 石田 森田 柴田 酒井
    工藤 横山 宮本 内田 高木 安藤 谷口 大野 丸山 今井 高田 藤本 武田 村田 杉山 増田 平野 大塚
    久保 松井 岩崎 桜井 木下 野口 松尾 野村 菊地 菊池 佐野 大西 杉本 新井 浜田 菅原 水野 島田
    古川 小島 小野 桐谷 綾小路 西園寺 服部 樋口 永井 川口 辻本 吉川 片山 星野 早川 荒木 矢野
    黒田 土屋 東山 浅野 河野 八木 松岡 本田 大島 川崎 望月 小山 飯田 中川 北村 久保田 関口 荒井
    """
)
_LAST_OF_GIVEN = (
    "郎太一二三介助也哉彦夫雄男人斗翔樹輝平子美香恵代奈菜花里莉沙紗織穂帆乃実未衣江枝志司史弘宏浩次之"
    "幸行孝隆明昭義健賢誠進勝利俊敏哲徹亮涼蓮陽葵結愛優真由冬夏春秋月音羽歩舞桜楓紀貴裕佑祐悠生希央慎吾吉朗"
)
_JAPANESE_FAMOUS = words_of(
    """
    田中角栄 伊藤博文 高橋留美子 渡辺謙 山本五十六 村上春樹 村上龍 坂本龍馬 坂本龍一 近藤勇
    武田信玄 武田勝頼 石田三成 宮本武蔵 前田利家 三浦知良 安藤忠雄 池田勇人 柴田勝家 岡本太郎
    藤原道長 藤原定家 野口英世 樋口一葉 黒田官兵衛 酒井忠次 小林一茶 小林多喜二 吉田松陰 吉田茂
    服部半蔵 菊池寛 福田赳夫 星野源 本田圭佑 大島渚 斎藤道三 斎藤茂吉 後藤新平 加藤清正 井上靖
    石井四郎 中島敦 中島敦志 鈴木大拙 鈴木一朗 木村拓哉 三浦綾子 安藤百福 松尾芭蕉 渡辺直美
    福田康夫 岩崎弥太郎 河野太郎 河野一郎
    """
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
        Мусоргск Павлов Сахаров Солженицын Пастернак Маяковск Есенин Набоков Бунин Брежнев
        Ельцин Троцк Кутузов Суворов Королёв Королев Циолковск Лобачевск Чебышёв Чебышев
        Колмогоров Ландау Репин Айвазовск Шишкин Кандинск Малевич Эйзенштейн Тарковск Шевченк
        Франк Хмельницк Бандер Зеленськ Зеленск Котляревск Витте Столыпин Ключевск Карамзин
        Колчак Римск Бородин Глинк Бах Моцарт Бетховен Капиц Вернадск Сеченов Пирогов Жуковск
        Радищев Салтыков Островск Некрасов Ахматов Цветаев Мандельштам Гумил Бродск Куприн
        Шолохов Грибоедов Крылов Фонвизин Рокоссовск Ушаков Нахимов Потёмкин Сперанск Аракчеев
        Бакунин Плеханов Керенск Каменев Бухарин Берия Хачатурян Врубел Левитан Мичурин Невск
        Македонск Грозн Велик Стюарт Кюри Дарк Антуанетт Мопассан Дюма Верн Твен Кристи Роулинг
        Линкольн Каренин Годунов Дурак Муром Тёркин Онегин Карамазов Калашников Высоцк Цой
        Пугачёв Пугачев Окуджав Третьяков Разин Царевич Попович Никитич Нобел Эйнштейн Ньютон
        Дарвин Маркс Кант Павлович Меркел Трамп Байден Обам Наполеон Бонапарт Медвед Лукашенк
        Дали Пикассо Тесл Гюго Лем Горьк Войнич
        """
    )
)


# Adjectives with the ending of a daughter's.
_NO_PATRONYMIC = words_of(
    "Шановна Головна Основна Основні Духовна Церковна Верховна Умовна Мовна Словна Любовна Ровно"
)
_IS_PATRONYMIC = re.compile(_PATRONYMIC)


def _is_not_famous(name: str) -> bool:
    if name in _NO_PATRONYMIC:
        return False
    words = [word for word in name.split() if not _IS_PATRONYMIC.fullmatch(word)]
    return not any(word.startswith(_FAMOUS) for word in words)


# Given names in every case: Тимур, Тимура, Тимуром; Лариса, Ларисе, Ларисой.
_WORDS_TOO = words_of("Вера Лада Лев Любовь Милан Мирон Надежда Петра Роза Роман Слава Злата")
_GIVEN_LIST = " ".join(
    {
        name.rstrip("аяйьоі")
        for name in list_given()
        if name[0] > "\u0400" and name not in _WORDS_TOO
    }
)
_GIVEN = rf"{any_of(_GIVEN_LIST)}(?:а|я|й|ь|о|у|ю|ы|и|е|і|ї|ой|ей|ою|ею|ом|ем|єм|ии|ию|ией)?"
_KIN = any_of(
    """
    муж мужа мужу мужем жена жены жену жене женой сын сына сыну сыном дочь дочери дочерью дочка
    дочки дочку брат брата брату братом сестра сестры сестру сестре сестрой сосед соседа соседу
    соседом соседка соседки соседку соседке коллега коллеги коллегу коллеге коллегой бабушка
    бабушки бабушку бабушке дедушка дедушки дедушку дедушке пациент пациента пациенту пациентка
    пациентки внук внука внучка внучки тётя тети тётю дядя дяди дяде племянник племянника
    племянница истец истца ответчик ответчика ответчику чоловік чоловіка дружина дружини сина
    донька доньки донечка сусід сусіда сусідка колега колеги лікар лікаря
    """
)
# Whose own they are said to be: friends, bosses and teachers of others may be well known.
_OWN_CYRILLIC = (
    "(?:мой|моя|моего|моей|моему|мою|моим|мій|мого|моєї|моєму|моїм|моїй|наш|наша|нашего|нашей|нашу"
    "|нашого|нашої|нашій)"
)
_ACQUAINTED = any_of(
    """
    друг друга другу другом подруга подруги подруге подругу подругой подрузі подругою приятель
    приятеля приятельница начальник начальника начальнику начальником начальница начальницы
    начальнице начальниця начальниці шеф шефа шефу шефом учитель учителя учительница учительницы
    вчитель вчителя вчителька вчительки тренер тренера врач врача врачу клиент клиента клиентка
    клиентки клієнт клієнта клієнтка арендатор арендатора орендар хозяин хозяйка хазяїн хазяйка
    мама маму мамы маме папа папу папы папе мать отец отца отцу мати батько батька тато тата бабуся
    бабусі дідусь дідуся тітка тітки дядько дядька свекровь свекрови тёща тёще тесть теща парень
    парня девушка девушке девушку хлопець дівчина однокурсник одногруппница одноклассник
    одноклассница сотрудник сотрудница сотруднику помощница помощник партнёр партнер студентка
    студент ученица ученик учениця учень
    """
)
_GREEK = "[Α-ΩΆΈΉΊΌΎΏ][α-ωάέήίόύώϊϋΐΰς]{2,20}"
_GREEK_KIN = any_of(
    """
    σύζυγός σύζυγο άντρας άντρα γυναίκα γυναίκας γιος γιο κόρη κόρης φίλος φίλο φίλη φίλης
    αδερφός αδερφό αδερφή αδερφής αδελφός αδελφή συνάδελφος συνάδελφο μητέρα πατέρας μαμά
    μπαμπάς γείτονας γειτόνισσα διευθυντής διευθύντρια
    """
)


def _is_japanese_name(name: str) -> bool:
    if any(c in name for c in "是么的了不我你他这這"):  # Chinese
        return False
    if len(set(name)) == 1:  # an escape of JSON, which is read as its character repeated
        return False
    return name not in _NO_JAPANESE and not name.endswith(("屋", "者", "員", "師", "生", "手"))


def _is_japanese_full_name(name: str) -> bool:
    return name not in _JAPANESE_FAMOUS


def _is_korean_name(name: str) -> bool:
    return name not in _NO_KOREAN and not name.endswith(("장", "사", "자"))


def _is_korean_signer(name: str) -> bool:
    return _is_korean_name(name) and not name.endswith(("을", "를", "로", "도", "은", "는", "서"))


def _locate_korean(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of a name after a relation or before a title; none of a school's."""
    group = "part" if match["part"] else "titled"
    name = match[group]
    if not _is_korean_name(name) or name.endswith(
        ("원", "학", "교", "실", "당", "집", "임", "리")
    ):
        return None
    return match.span(group)


_ARABIC = "[\u0621-\u064a]{2,14}"
# عبد الرحيم, فيصل بن ناصر القحطاني
_ARABIC_NAME = (
    rf"(?:(?:عبد|أم|أبو|أبي|ابن) )?{_ARABIC}(?: (?:بن|بنت|ابن) {_ARABIC}){{0,2}}"
    r"(?: (?:ال|آل )[\u0621-\u064a]{2,12})?"
)
_PERSIAN = "[\u0621-\u064a\u067e\u0686\u0698\u06a9\u06af\u06cc\u200c]{2,16}"
_NO_PERSIAN = (
    r"(?!(?:عزیز|محترم|گرامی|خوب|با|را|به|از|که|در|است|هست|صحبت|گفت|و|هم|ها|های|باردار|خانه|رئیس"
    r"|وزیر|مدیر|دکتر|مهندس|مریض|بیمار|خیلی|امروز|فردا|دیروز|می|نمی|یک|این|آن)(?!\w))"
)
_BENGALI = "[\u0980-\u09ff]{2,16}"
_NO_BENGALI = (
    "(?!(?:খুব|অসুস্থ|আছে|আছেন|একটি|একজন|একটা|কাল|আজ|গত|এবং|ও|কে|কি|না|হয়|হল|আমাকে|আমার|তার|এখন|যে|যিনি"
    "|বলেছে|বলেছেন|আসবেন|কাজ|করে|করেন|থেকে)(?![\u0980-\u09ff]))"
)
_GEORGIAN = "[\u10d0-\u10fa]"
_HEBREW = "[\u05d0-\u05ea]{2,14}"
_DEVANAGARI = "[\u0900-\u0963]{2,16}"
# Words that follow a relation or begin a question.
_NO_HINDI = (
    "(?!(?:है|हैं|था|थी|हूँ|और|से|को|का|की|के|ने|में|जी|पर|भी|तो|क्या|कौन|बहुत|नहीं|एक|मुझे|मेरा|मेरी|मेरे|अच्छा|अच्छी"
    "|बीमार|यह|वह|कल|आज)(?![\u0900-\u0963]))"
)
_VIETNAMESE = r"[A-ZÀ-ÝĂĐĨŨƠƯẠ-Ỹ](?![A-Z])[^\W\d_]{0,6}"
_VIETNAMESE_SURNAME = (
    "(?:Nguyễn|Trần|Lê|Phạm|Hoàng|Huỳnh|Phan|Vũ|Võ|Đặng|Bùi|Đỗ|Hồ|Ngô|Dương|Lý|Quách|Lương|Trịnh"
    "|Đinh|Đào|Đoàn|Tô|Lâm|Trương|Phùng|Tạ|Châu|Thái)"
)
_THAI = "[\u0e01-\u0e4e]"
_NO_TITLED = words_of(
    """
    الرئيس الوزير المدير القاضي رئيس وزير مدير
    היושב השופט ראש
    """
)

_OTHER_SCRIPTS = (
    shape(
        "PERSON",
        rf"(?P<part>{_COMPOUND}[{_HAN}]{{0,2}}?|(?<![{_CHINESE}])[{_CHINESE}][{_HAN}]{{0,2}}?)"
        rf"(?:{_CHINESE_TITLES})",
        _is_chinese_name,
        clue=any_match(_CHINESE_TITLES),
        reach=8,
    ),
    shape(
        "PERSON",
        rf"(?:(?<![{_HAN}])|(?<=[的找叫给和跟请向]))"
        rf"(?P<part>{_COMPOUND}|[{_CHINESE_SURE}])(?:师傅|師傅|阿姨|叔叔|奶奶|爷爷|大哥|大姐)",
        clue=any_string("师傅", "師傅", "阿姨", "叔叔", "奶奶", "爷爷", "大哥", "大姐"),
        reach=6,
    ),
    shape(  # a name of three or four characters; the second of the given name may be missing
        "PERSON",
        rf"(?:{_CHINESE_KIN})(?P<part>老[{_CHINESE}](?![{_CHINESE}])|(?:{_COMPOUND}|[{_CHINESE_SURE}])"
        rf"(?:(?![{_CHINESE_STOP}])[{_HAN}]){{2}}(?=[{_CHINESE_STOP}先女，。、；：！？,.;:!?\s]))",
        _is_chinese_name,
        clue=any_match(_CHINESE_KIN),
        reach=4,
    ),
    shape(
        "PERSON",
        rf"(?<![{_HAN}])(?P<part>{_COMPOUND}(?:(?![{_CHINESE_STOP}])[{_HAN}]){{1,2}})",
        _is_chinese_name,
        clue=any_match(_COMPOUND),
        reach=2,
    ),
    shape(  # after a relation, whatever follows: 我丈夫宇文浩然昨天
        "PERSON",
        rf"(?:{_CHINESE_KIN})(?P<part>{_COMPOUND}(?:(?![{_CHINESE_STOP}昨今明前后])[{_HAN}]){{1,2}})",
        _is_chinese_name,
        clue=any_match(_COMPOUND),
        reach=8,
    ),
    shape(
        "PERSON",
        rf"(?:我叫|名叫|我是|姓名是|本人)(?P<part>(?:{_COMPOUND}|[{_CHINESE}])[{_HAN}]{{1,2}})"
        r"(?=[，。,.！!；;、\s]|\Z)",
        clue=any_string("叫", "我是", "姓名是", "本人"),
        reach=4,
    ),
    shape(
        "PERSON",
        rf"(?<![{_HAN}々\u30a0-\u30ff])(?P<part>[{_HAN}々]{{2,6}}|[\u30a1-\u30fa\u30fc]{{2,10}})"
        rf"(?: ?(?:{_JAPANESE_TITLES})|と申します|といいます)",
        _is_japanese_name,
        clue=any_match(rf"{_JAPANESE_TITLES}|と申し|といい"),
        reach=14,
    ),
    shape(  # 桐谷慎之介は
        "PERSON",
        rf"(?<![{_HAN}])(?P<part>{_JAPANESE}(?:[ \u3000])?[{_HAN}]{{2,3}}"
        rf"(?<=[{_LAST_OF_GIVEN}]))(?![{_HAN}\u30a1-\u30fa])",
        _is_japanese_full_name,
        clue=any_match(_JAPANESE),
        reach=2,
    ),
    shape(  # 夫の権藤 勝利が
        "PERSON",
        rf"[夫妻娘父母兄姉弟妹子人僚司]の(?P<part>[{_HAN}々]{{1,3}}[ \u3000][{_HAN}々]{{1,3}})"
        r"(?=[がはをにとでも、。様さ])",
        clue=any_match(rf"の[{_HAN}々]{{1,3}}[ \u3000]"),
        reach=2,
    ),
    shape(  # 長谷川 美咲（はせがわ みさき）
        "PERSON",
        rf"(?<=[{_HAN}])[(（](?P<part>[ぁ-ゖー]{{2,8}}[ \u3000][ぁ-ゖー]{{2,8}}"
        r"|[ァ-ヺー]{2,8}[ \u3000][ァ-ヺー]{2,8})[)）]",
        clue=any_string("(", "（"),
        reach=2,
    ),
    shape(  # 鬼塚より
        "PERSON",
        rf"(?<=[。！\n])(?P<part>[{_HAN}々]{{2,5}})より(?=[\s。]{{0,4}}\Z)",
        clue=any_string("より"),
        reach=8,
    ),
    shape(  # 제 남편 독고진수가, 선우 선생님
        "PERSON",
        rf"(?<![가-힣])(?:(?:제|내|우리|저희|저의) ?(?:남편|아내|신랑|와이프|형|누나|오빠"
        rf"|언니|동생) (?P<part>{_KOREAN_FULL})"
        r"(?=(?:가|이|은|는|을|를|와|과|의|에게|도|랑|한테)(?![가-힣]))"
        rf"|(?P<titled>{_KOREAN_FULL}|{_KOREAN_COMPOUND}) "
        r"(?:선생|교수|과장|부장|대리|사장|원장|박사)님)",
        clue=any_match("남편|아내|신랑|와이프|형|누나|오빠|언니|동생|님"),
        locate=_locate_korean,
        reach=14,
    ),
    shape(  # 탁은혜 드림
        "PERSON",
        rf"(?<![가-힣])(?P<part>{_KOREAN_FULL}) ?(?:드림|올림|배상)(?=[.\s]{{0,4}}(?:\n|\Z))",
        _is_korean_signer,
        clue=any_string("드림", "올림", "배상"),
        reach=8,
    ),
    shape(
        "PERSON",
        rf"(?<![가-힣])(?P<part>[{_KOREAN}][가-힣]{{1,3}}) ?(?:씨|님|군|양)(?![가-힣]{{2}})",
        _is_korean_name,
        clue=any_match("[씨님군양]"),
        reach=8,
    ),
    shape(
        "PERSON",
        rf"(?:이름은|저는|나는) (?P<part>[{_KOREAN}][가-힣]{{1,2}})"
        r"(?:입니다|이에요|예요|이라고|라고|이고)",
        _is_korean_name,
        clue=any_string("이름은", "저는", "나는"),
        reach=2,
    ),
    shape(
        "PERSON",
        # A surname stands before or after both; `Позвоните` is none.
        rf"(?<!\w)(?:{_WORD} {_PATRONYMIC} {_WORD}"
        rf"|(?:(?!\w{{1,20}}те ){_WORD} )?{_WORD} {_PATRONYMIC}(?! {_WORD})|{_PATRONYMIC})(?!\w)",
        _is_not_famous,
        clue=any_match("(?:ович|евич|ьич|овн|евн|ичн|инічн|ївн|івн)"),
        reach=80,
    ),
    shape(  # Т. Ю. Берестова, Берестова Т. Ю.
        "PERSON",
        rf"(?<!\w)(?:{_INITIALS} ?{_WORD}|{_WORD} {_INITIALS}(?! ?{_WORD}))",
        _is_not_famous,
        clue=any_match(_INITIALS),
        reach=60,
    ),
    shape(
        "PERSON",
        r"(?<!\w)(?:[гГ]-н[ауо]?|[гГ]-ж[аеуи]|[гГ]осподин[ауе]?|[гГ]оспож[аеуи]|[пП]ан[аеиуі]?"
        rf"|κ\.|[κΚ]ύριο[ςυ]|[κΚ]υρία[ς]?) (?P<part>(?:{_WORD}|[Α-Ω][α-ώ]{{2,20}})"
        rf"(?: (?:{_WORD}|[Α-Ω][α-ώ]{{2,20}})){{0,2}})",
        _is_not_famous,
        clue=any_string("г-н", "г-ж", "господин", "госпож", "пан", "κ.", "κύριο", "κυρία"),
        reach=2,
    ),
    shape(  # Лариса Вощинская, Тимура Гарифова
        "PERSON",
        rf"(?<!\w){_GIVEN} (?!{_PATRONYMIC}(?!\w)){_WORD}(?!\w)",
        _is_not_famous,
        clue=any_match(rf"[{_CYRILLIC}][{_SMALL}]+ [{_CYRILLIC}]"),
        reach=30,
    ),
    shape(
        "PERSON",
        rf"(?<!\w)(?i:{_KIN}) (?P<part>{_WORD}(?: {_WORD}){{0,2}})(?!\w)",
        _is_not_famous,
        clue=any_match(rf"[{_SMALL}{_CYRILLIC}] [{_CYRILLIC}]"),
        reach=20,
    ),
    shape(  # моя подруга Соломія Кравчук
        "PERSON",
        rf"(?<!\w)(?i:{_OWN_CYRILLIC} {_ACQUAINTED}),? (?P<part>{_WORD}(?: {_WORD}){{0,2}})(?!\w)",
        clue=any_match(rf"[{_SMALL}{_CYRILLIC}],? [{_CYRILLIC}]"),
        reach=36,
    ),
    shape(
        "PERSON",
        rf"(?<!\w){_GREEK_KIN} (?:μου|μας|του|της|σου),? (?:ο |η |τον |την |του |της )?"
        rf"(?P<part>{_GREEK}(?: {_GREEK})?)(?!\w)",
        clue=any_string(" μου", " μας", " του", " της", " σου"),
        reach=20,
    ),
    shape(
        "PERSON",
        r"(?<!\w)(?:السيد|السيدة|الدكتور|الدكتورة|الأستاذ|الأستاذة|الآنسة|اسمي"
        r"|מר|גב'|גברת|ד\"ר|פרופ'|עו\"ד|שמי|קוראים לי) "
        rf"(?P<part>{_ARABIC}(?: {_ARABIC})?|{_HEBREW}(?: {_HEBREW})?)(?!\w)",
        lambda name: name.split()[0] not in _NO_TITLED,
        clue=any_match("[\u0621-\u064a\u05d0-\u05ea]"),
    ),
    shape(  # my wife, my son
        "PERSON",
        r"(?<!\w)[بلوفك]?(?:زوجي|زوجتي|ابني|ابنتي|أخي|أختي|صديقي|صديقتي|زميلي|زميلتي|جاري|جارتي"
        r"|مديري|مديرتي|בעלי|אשתי|הבן שלי|הבת שלי|אחותי|חבר שלי|חברה שלי) "
        rf"(?P<part>{_ARABIC_NAME}|{_HEBREW})(?!\w)",
        clue=any_match("[\u0621-\u064a\u05d0-\u05ea]"),
    ),
    shape(
        "PERSON",
        r"(?<!\w)(?:श्री|श्रीमती|सुश्री|डॉ\.?|मेरा नाम|मेरे पति|मेरी पत्नी|मेरा बेटा|मेरी बेटी"
        r"|मेरे दोस्त|मेरी दोस्त) "
        rf"(?P<part>{_NO_HINDI}{_DEVANAGARI}(?: {_NO_HINDI}{_DEVANAGARI}){{0,2}})",
        clue=any_match("[\u0900-\u0963]"),
    ),
    shape(
        "PERSON",
        rf"(?:นาย|นางสาว|นาง|คุณ|ชื่อ ?)(?P<part>{_THAI}{{2,16}} {_THAI}{{2,24}})",
        clue=any_match(_THAI),
    ),
    shape(  # my husband; no verb follows
        "PERSON",
        r"(?:สามี|ภรรยา|ลูกชาย|ลูกสาว|พี่ชาย|พี่สาว|น้องชาย|น้องสาว|เพื่อน|หัวหน้า)(?:ของ(?:ฉัน|ผม|ดิฉัน|เรา)) "
        rf"(?P<part>(?!ไป|มา|ทำ|เป็น|ไม่|ชอบ|มี|อยู่|ได้|จะ|ต้อง|กำลัง|เพิ่ง|บอก|ป่วย|และ|ที่|คือ|อยาก|ก็)"
        rf"{_THAI}{{2,16}} {_THAI}{{2,24}})(?= |\n|\Z)",
        clue=any_string("ของฉัน", "ของผม", "ของดิฉัน", "ของเรา"),
    ),
    shape(  # آقای بهرامی, پسرم سیاوش
        "PERSON",
        r"(?<!\w)(?:خانم|آقای|نام من|اسم من|پسرم|دخترم|همسرم|شوهرم|زنم|برادرم"
        r"|خواهرم|دوستم|همکارم) "
        rf"(?P<part>{_NO_PERSIAN}{_PERSIAN})(?!\w)",
        clue=any_match("[\u0621-\u064a]"),
    ),
    shape(  # আমার স্বামী অনিরুদ্ধ ভট্টাচার্য
        "PERSON",
        r"(?<![\u0980-\u09ff])(?:জনাব|শ্রী|শ্রীমতী|ডা\.|ডাঃ|ড\.|মিস্টার|মিসেস|আমার নাম|আমার (?:স্বামী|স্ত্রী"
        r"|ছেলে|মেয়ে|মেয়ে|ভাই|বোন|বন্ধু|বান্ধবী|বস)) "
        rf"(?P<part>{_NO_BENGALI}{_BENGALI}(?: {_NO_BENGALI}{_BENGALI})?)",
        clue=any_match("[\u0980-\u09ff]"),
    ),
    shape(  # ჩემი ქმარი გიორგი ქავთარაძე
        "PERSON",
        rf"(?<!\w)(?P<part>{_GEORGIAN}{{3,14}} {_GEORGIAN}{{2,14}}(?:ძე|შვილი)[ა-ჰ]{{0,2}})(?!\w)",
        clue=any_string("ძე", "შვილი"),
        reach=36,
    ),
    shape(
        "PERSON",
        r"(?<!\w)(?:ჩემი (?:ქმარი|ცოლი|მეუღლე|ვაჟი|ქალიშვილი|ძმა|მეგობარი|უფროსი)|მე მქვია|ბატონი"
        r"|ქალბატონი) "
        rf"(?P<part>{_GEORGIAN}{{3,14}})(?!\w| {_GEORGIAN}{{2,14}}(?:ძე|შვილი))",
        clue=any_match(_GEORGIAN),
    ),
)

SCRIPTS = (
    *(replace(each, clue=all_clues(beyond_latin, each.clue)) for each in _OTHER_SCRIPTS),
    shape(  # bác sĩ Quách Thị Hạnh, chồng em là Lương Quốc Khánh
        "PERSON",
        rf"(?<!\w)(?:(?i:bác sĩ|luật sư|giáo sư|thạc sĩ|tiến sĩ|thầy)"
        rf"|(?i:cô|ông|bà|anh|chị|em)(?= {_VIETNAMESE_SURNAME} )"
        r"|(?i:chồng|vợ|con trai|con gái|mẹ|bố|ba|anh trai|chị gái|em trai|em gái|bạn|sếp)"
        r"(?: của)? (?:em|tôi|mình|anh|con)(?: là| tên| tên là)?"
        r"|(?i:tôi tên là|tên tôi là|tên em là)) "
        rf"(?P<part>{_VIETNAMESE}(?: {_VIETNAMESE}){{1,3}})(?!\w)",
        clue=any_listed(
            "bác luật giáo thạc tiến thầy cô ông bà anh chị em chồng vợ con mẹ bố ba bạn sếp tên"
        ),
        reach=24,
    ),
)
