"""A form is read in any language: what is filled in is hidden, its labels stay; a program's
translations, which hold labels alone, stay as they are."""

from __future__ import annotations

import json

import pytest

from perturb import load_table
from perturb.selective.listings import drop_translated
from perturb.selective.patterns.forms import find_fields, is_label
from perturb.selective.patterns.labels import INTERFACE, LABELS, NAMES, spell
from perturb.selective.sanitizer import Selective, SelectiveParameters
from perturb.testing.growth import grows_linearly

FORMS = {
    "Russian": {
        "Имя": "Иван Петров",
        "Фамилия": "Сидоренко",
        "Телефон": "+7 916 123-45-67",
        "Адрес": "г. Москва, ул. Ленина, д. 5, кв. 12",
        "Дата рождения": "12.03.1988",
        "Паспорт": "4509 123456",
    },
    "Ukrainian": {
        "Ім'я": "Олена",
        "Прізвище": "Шевчук",
        "Адреса": "м. Львів, вул. Зелена, 14",
        "Дата народження": "05.11.1990",
    },
    "Bulgarian": {
        "Име": "Георги Димитров",
        "Телефон": "+359 88 123 4567",
        "Дата на раждане": "05.11.1990",
    },
    "Greek": {
        "Όνομα": "Γιώργος",
        "Επώνυμο": "Παπαδόπουλος",
        "Τηλέφωνο": "+30 694 123 4567",
        "Διεύθυνση": "Οδός Ερμού 15, Αθήνα",
        "Ημερομηνία γέννησης": "05/11/1990",
    },
    "Turkish": {
        "Soyad": "Yılmazoğlu",
        "Adı Soyadı": "Mehmet Karaca",
        "Telefon": "+90 532 123 45 67",
        "Adres": "Bağdat Caddesi No: 15, Kadıköy",
        "Doğum tarihi": "05.11.1990",
    },
    "Polish": {
        "Imię i nazwisko": "Małgorzata Wiśniewska",
        "Telefon": "+48 601 123 456",
        "Adres": "ul. Długa 15/3, 00-238 Warszawa",
        "Data urodzenia": "05.11.1990",
        "PESEL": "90110512345",
    },
    "Czech": {
        "Jméno": "Jiří",
        "Příjmení": "Dvořáček",
        "Adresa": "Dlouhá 15, 110 00 Praha",
        "Datum narození": "5. 11. 1990",
    },
    "Hungarian": {
        "Név": "Kovácsné Szabó Ilona",
        "Cím": "1052 Budapest, Váci utca 15.",
        "Születési dátum": "1990.11.05.",
    },
    "Romanian": {
        "Nume": "Ionescu",
        "Prenume": "Andreea",
        "Adresa": "Str. Lungă nr. 15, București",
        "Data nașterii": "05.11.1990",
    },
    "Finnish": {
        "Nimi": "Pekka Virtanen",
        "Osoite": "Mannerheimintie 15 A 3, 00100 Helsinki",
        "Syntymäaika": "5.11.1990",
    },
    "Vietnamese": {
        "Họ và tên": "Nguyễn Thị Hồng Nhung",
        "Số điện thoại": "0912 345 678",
        "Địa chỉ": "15 Lê Lợi, Quận 1",
        "Ngày sinh": "05/11/1990",
    },
    "Indonesian": {
        "Nama": "Budi Santoso",
        "Telepon": "+62 812 3456 7890",
        "Alamat": "Jl. Merdeka No. 15, Bandung",
        "Tanggal lahir": "05-11-1990",
    },
    "Chinese": {
        "姓名": "欧阳晓雯",
        "电话": "13812345678",
        "地址": "北京市朝阳区建国路88号",
        "出生日期": "1990年11月5日",
        "身份证号": "110105199011051234",
    },
    "Chinese of Taiwan": {
        "姓名": "陳怡君",
        "電話": "0912-345-678",
        "地址": "台北市信義區松仁路15號",
        "生日": "1990/11/05",
    },
    "Japanese": {
        "氏名": "佐々木健一",
        "電話番号": "090-1234-5678",
        "住所": "東京都渋谷区神南1-15-3",
        "生年月日": "1990年11月5日",
    },
    "Korean": {
        "이름": "박지훈",
        "전화번호": "010-1234-5678",
        "주소": "서울특별시 강남구 테헤란로 15",
        "생년월일": "1990년 11월 5일",
    },
    "Arabic": {
        "الاسم": "أحمد الخطيب",
        "الهاتف": "+20 100 123 4567",
        "العنوان": "15 شارع النيل، القاهرة",
        "تاريخ الميلاد": "05/11/1990",
    },
    "Hebrew": {
        "שם": "דוד כהן",
        "שם משפחה": "אברמוביץ",
        "טלפון": "052-123-4567",
        "כתובת": "רחוב הרצל 15, חיפה",
        "תאריך לידה": "05/11/1990",
    },
    "Persian": {
        "نام": "علیرضا محمدی",
        "تلفن": "0912 345 6789",
        "آدرس": "تهران، خیابان ولیعصر، پلاک ۱۵",
        "تاریخ تولد": "1990/11/05",
    },
    "Hindi": {
        "नाम": "राहुल शर्मा",
        "फोन": "98765 43210",
        "पता": "15, गांधी मार्ग, जयपुर",
        "जन्म तिथि": "05/11/1990",
    },
    "Bengali": {"নাম": "রফিকুল ইসলাম", "ফোন": "01712-345678", "ঠিকানা": "১৫ মিরপুর রোড, ঢাকা"},
    "Tamil": {"பெயர்": "முருகன் செல்வம்", "முகவரி": "15, காந்தி தெரு, மதுரை"},
    "Thai": {
        "ชื่อ": "สมชาย ใจดี",
        "นามสกุล": "ใจดีมาก",
        "โทรศัพท์": "081-234-5678",
        "ที่อยู่": "15 ถนนสุขุมวิท กรุงเทพ",
        "วันเกิด": "05/11/1990",
    },
    "Khmer": {"ឈ្មោះ": "រិទ្ធ មករា", "អាសយដ្ឋាន": "ផ្ទះលេខ 15 ផ្លូវ 271"},
    "Georgian": {"სახელი": "გიორგი ბერიძე", "მისამართი": "რუსთაველის 15, თბილისი"},
    "Armenian": {"Անուն": "Արամ Պետրոսյան", "Հասցե": "Աբովյան 15, Երևան"},
    "French": {
        "Nom": "Fournier-Delmas",
        "Prénom": "Léa",
        "Téléphone": "06 12 34 56 78",
        "Adresse": "15 rue de la Paix, 75002 Paris",
        "Date de naissance": "05/11/1990",
    },
    "Italian": {
        "Nome": "Giancarlo",
        "Cognome": "Bevilacqua",
        "Indirizzo": "Via Garibaldi 15, 20121 Milano",
        "Data di nascita": "05/11/1990",
    },
}
LAYOUTS = {
    "lines": lambda form: "\n".join(f"{label}: {value}" for label, value in form.items()),
    "Markdown": lambda form: "\n".join(f"- **{label}:** {value}" for label, value in form.items()),
    "JSON": lambda form: json.dumps(form, ensure_ascii=False, indent=1),
    "JSON in ASCII": json.dumps,
    "JSON in JSON": lambda form: json.dumps({"text": json.dumps(form, ensure_ascii=False)}),
    "table": lambda form: ";".join(form) + "\n" + ";".join(form.values()),
}
# What the programs of this world write on their buttons; the keys are the same in all of them.
KEYS = (
    *("login", "username", "user", "password", "confirmPassword", "token", "name", "firstName"),
    *("lastName", "fullName", "phone", "address", "city", "contact", "author", "owner"),
    *("customer", "patient", "sender", "search", "settings", "secret", "pin", "forgot_password"),
)
TRANSLATIONS = {
    "German": """Anmelden,Benutzername,Benutzer,Passwort,Passwort bestätigen,Token,Name,Vorname,
        Nachname,Vollständiger Name,Telefonnummer,Anschrift,Stadt,Kontakt,Autor,Besitzer,Kunde,
        Patient,Absender,Suchen,Einstellungen,Geheimnis,PIN,Passwort vergessen?""",
    "French": """Connexion,Nom d’utilisateur,Utilisateur,Mot de passe,Confirmer le mot de passe,
        Jeton,Nom,Prénom,Nom de famille,Nom complet,Téléphone,Adresse,Ville,Contact,Auteur,
        Propriétaire,Client,Patient,Expéditeur,Rechercher,Paramètres,Secret,Code PIN,
        Mot de passe oublié ?""",
    "Spanish": """Iniciar sesión,Nombre de usuario,Usuario,Contraseña,Confirmar contraseña,Ficha,
        Nombre,Nombre,Apellidos,Nombre completo,Teléfono,Dirección,Ciudad,Contacto,Autor,
        Propietario,Cliente,Paciente,Remitente,Buscar,Ajustes,Secreto,PIN,
        ¿Olvidó su contraseña?""",
    "Polish": """Zaloguj,Nazwa użytkownika,Użytkownik,Hasło,Potwierdź hasło,Żeton,Nazwa,Imię,
        Nazwisko,Imię i nazwisko,Telefon,Adres,Miasto,Kontakt,Autor,Właściciel,Klient,Pacjent,
        Nadawca,Szukaj,Ustawienia,Sekret,PIN,Nie pamiętasz hasła?""",
    "Russian": """Войти,Имя пользователя,Пользователь,Пароль,Подтвердите пароль,Токен,Имя,Имя,
        Фамилия,Полное имя,Телефон,Адрес,Город,Контакт,Автор,Владелец,Клиент,Пациент,Отправитель,
        Поиск,Настройки,Секрет,ПИН-код,Забыли пароль?""",
    "Chinese": """登录,用户名,用户,密码,确认密码,令牌,姓名,名,姓,全名,电话,地址,城市,联系人,作者,
        所有者,客户,患者,发件人,搜索,设置,密钥,验证码,忘记密码？""",
    "Japanese": """ログイン,ユーザー名,ユーザー,パスワード,パスワードの確認,トークン,名前,名,姓,
        氏名,電話番号,住所,市区町村,連絡先,作者,所有者,顧客,患者,送信者,検索,設定,秘密鍵,暗証番号,
        パスワードをお忘れですか""",
    "Turkish": """Giriş yap,Kullanıcı adı,Kullanıcı,Şifre,Şifreyi onayla,Belirteç,İsim,Ad,Soyad,
        Tam ad,Telefon,Adres,Şehir,İletişim,Yazar,Sahip,Müşteri,Hasta,Gönderen,Ara,Ayarlar,Gizli,
        PIN,Şifremi unuttum""",
}


@pytest.fixture(scope="module")
def people() -> Selective:
    """Return the mechanism with the default profile."""
    return Selective(load_table(), SelectiveParameters(profile="people"))


def hide(people: Selective, text: str) -> str:
    shown, end = "", 0
    for span in people.spans(text) or ():
        shown, end = shown + text[end : span.start] + "\0" * (span.end - span.start), span.end
    return shown + text[end:]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("language", FORMS)
def test_what_is_filled_in_is_hidden_and_labels_stay(
    people: Selective, language: str, layout: str
) -> None:
    form = FORMS[language]
    text = LAYOUTS[layout](form)
    shown = hide(people, text)
    spellings = [lambda part: part, json.dumps, lambda part: json.dumps(json.dumps(part))]
    for label, value in form.items():
        for spelled in spellings:
            assert spelled(value).strip('"\\') not in shown
        assert any(spelled(label).strip('"\\') in shown for spelled in spellings), label


def translate(language: str, layout: str) -> str:
    words = [word.strip() for word in TRANSLATIONS[language].split(",")]
    pairs = list(zip(KEYS, words, strict=True))
    if layout == "JSON":
        return json.dumps(dict(pairs), ensure_ascii=False, indent=2)
    if layout == "gettext":
        return "\n\n".join(f'msgid "{key}"\nmsgstr "{word}"' for key, word in pairs)
    if layout == "Android":
        return "\n".join(f'<string name="{key}">{word}</string>' for key, word in pairs)
    if layout == "iOS":
        return "\n".join(f'"{key}" = "{word}";' for key, word in pairs)
    if layout == "properties":
        return "\n".join(f"{key}={word}" for key, word in pairs)
    if layout == "YAML":
        return "\n".join(f"{key}: {word}" for key, word in pairs)
    return "export default {\n" + "".join(f"  {k}: '{word}',\n" for k, word in pairs) + "};"


@pytest.mark.parametrize(
    "layout", ["JSON", "gettext", "Android", "iOS", "properties", "YAML", "module"]
)
@pytest.mark.parametrize("language", TRANSLATIONS)
def test_a_file_of_translations_is_left(people: Selective, language: str, layout: str) -> None:
    text = translate(language, layout)
    assert hide(people, text) == text


@pytest.mark.parametrize("layout", ["JSON", "YAML", "properties", "module"])
@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("password", "tr0mboneQuilt"),
        ("password", "orchardplumtree"),
        ("password", "plum-orchard-9"),
        ("author", "Anneliese Brandtner"),
        ("fullName", "Katharina Olschewski"),
        ("contact", "ulla.brandtner@brandtner.example"),
        ("phone", "0171 2345678"),
    ],
)
def test_what_is_private_in_a_file_of_translations_is_hidden(
    people: Selective, key: str, value: str, layout: str
) -> None:
    words = [word.strip() for word in TRANSLATIONS["German"].split(",")]
    text = translate("German", layout).replace(words[KEYS.index(key)], value)
    assert value in text
    assert value not in hide(people, text)


@pytest.mark.parametrize(
    ("text", "private"),
    [
        (
            '{"user": "bokafor", "action": "login"}\n{"user": "tkowalczyk", "action": "search"}\n'
            '{"user": "bokafor", "action": "delete"}\n{"user": "mhuang", "action": "login"}',
            ["bokafor", "tkowalczyk", "mhuang"],
        ),
        (
            'password: "elefantenrennen"\nusername: "okonkwo"\nrole: "manager"\n'
            'status: "employee"\ntype: "user"\n',
            ["elefantenrennen", "okonkwo"],
        ),
        (
            "environment:\n  DB_USER: user\n  DB_PASSWORD: geheimniskraemer\n"
            "  ROLE: manager\n  DB_NAME: customer\n",
            ["geheimniskraemer"],
        ),
        (
            '{"contacts":[{"name":"Szczepanik","phone_type":"mobile","group":"customer"},'
            '{"name":"Oyelaran","phone_type":"telephone","group":"client"}]}',
            ["Szczepanik", "Oyelaran"],
        ),
        (
            'contact = {"name": "Max Born", "type": "customer", "phone": "+49 171 5558812"}',
            ["Max Born"],
        ),
        ('{"name": "Eleanor Street", "role": "Manager"}', ["Eleanor Street"]),
        ("Name: Fionnuala Guest\nPosition: Manager\nDepartment: Sales", ["Fionnuala"]),
        ('{"name":"Elif Ara","role":"manager"}', ["Elif"]),
        ('{"name":"Jan Ort","role":"owner"}', ["Jan Ort"]),
        ("name: Ana Calle\ntype: customer\n", ["Ana"]),
        ("name: Lưu Văn Minh\nrole: manager\n", ["Văn"]),
        (
            '{"first_name": "Ville", "last_name": "Korhonen", "type": "customer"}',
            ["Ville", "Korhonen"],
        ),
        ("Vorname: Tjark\nNachname: Ort\nRolle: Mitarbeiter\nStatus: Kunde", ["Tjark"]),
        ('{"username":"cari.thistle","action":"save"}', ["cari.thistle"]),
        ('{"password":"sesame street","user":"guest"}', ["sesame street"]),
        ('login: admin\npassword: "search my soul"\ntype: user\n', ["search my soul"]),
        (
            'password: "OpenSesame"\nusername: "guest"\nrole: "manager"\n type: "user"\n',
            ["OpenSesame"],
        ),
        (
            "ciao, sono giulia rossi, mia sorella chiara non mi parla più, marco le ha detto",
            ["giulia rossi", "chiara", "marco"],
        ),
        (
            "ahoj, já jsem jana nováková, bydlím v brně a kolegyně tereza dvořáková mi dluží",
            ["jana nováková", "dvořáková"],
        ),
        (
            "zoë quackenbush\nthandiwe mokoena\nbrynjar sveinsson\nlwazi dlamini",
            ["zoë quackenbush"],
        ),
        ("mi jefe íñigo arrizabalaga me despidió ayer", ["íñigo arrizabalaga"]),
        (
            "Luca non è venuto. Avvisa Chiara e il dottor Bellandi, per piacere.",
            ["Luca", "Bellandi"],
        ),
        ("Mehmet bugün gelmedi, Ayşe hanım çok kızdı.", ["Mehmet"]),
        (
            "Anwesend: Jürgen Prantl, Sabine Okoye, Detlef Wrobel\nProtokoll: Hagenström",
            ["Hagenström"],
        ),
        ("Reparación coche Sr Etxeberria, llamar mañana: Aitor", ["Aitor"]),
        ("имя: дарья\nфамилия: вощинская", ["дарья"]),
        ('имя = "иван кузнецов"', ["кузнецов"]),
        ("姓名=陆景行", ["陆景行"]),
        ("이름=김철수", ["김철수"]),
        ('const 이름 = "박서연";', ["박서연"]),
        ('שם_מלא = "יוסי כהן"', ["יוסי כהן"]),
        ("お名前: 中村 はるか", ["中村"]),
        ("氏名: 後藤 がく", ["後藤"]),
        ("姓名: 艾合买提·吐尔逊江·买买提", ["艾合买提"]),
        ("患者姓名:王小明（男）", ["王小明"]),
        ("이름: 남궁민수입니다", ["남궁민수"]),
        ("이름: 황보다", ["황보다"]),
        ("username: иван_петров", ["иван_петров"]),
        ('"username": "мария.сидорова"', ["мария.сидорова"]),
        ("Dear Mr Street, thanks. Regards, Max Born", ["Street"]),
        ("Sender: Alice Born\nRecipient: Peter Street\n", ["Peter Street"]),
    ],
)
def test_labels_beside_a_person_are_no_translations(
    people: Selective, text: str, private: list[str]
) -> None:
    shown = hide(people, text)
    assert [value for value in private if value in shown] == []


def test_an_operators_own_type_counts_among_translations() -> None:
    parameters = SelectiveParameters(profile="people", patterns={"PERSON": "Benutzer"})
    text = translate("German", "JSON")
    spans = Selective(load_table(), parameters).spans(text) or ()
    assert "Benutzer" in {text[span.start : span.end] for span in spans}


def test_one_value_among_private_ones_is_no_translation(people: Selective) -> None:
    text = json.dumps({"username": "vbrandtner", "role": "Kunde", "password": "orchardplumtree"})
    shown = hide(people, text)
    assert "vbrandtner" not in shown
    assert "orchardplumtree" not in shown


@pytest.mark.parametrize(
    "text",
    [
        "姓名：请填写\n电话：\n地址：请输入地址",
        "Имя: введите имя\nТелефон: введите номер\nАдрес: не указан",
        "الاسم: مطلوب\nالهاتف: اختياري",
        "name: web\naddress: 0.0.0.0:8080\nphone: null\ncity: true",
        '{"name":"express","version":"4.18.2","author":"TJ","license":"MIT"}',
        "Телефон: это устройство для передачи речи на расстоянии.",
        "Адрес: в программировании это номер ячейки памяти.",
        "Имя: существительное среднего рода.",
        "住所: 住んでいる場所のこと。",
        "名前: 変数の名前は小文字で書く",
        "이름: 변수의 이름은 소문자로 쓴다",
        "Vocabulary\nnom: name\nprénom: first name\nadresse: address\ntéléphone: phone",
        "CREATE TABLE users (name TEXT, phone TEXT, address TEXT);",
        "Name: Object-Relational Mapping\nType: pattern\nAddress: see chapter 3 of the book",
        'fields = {"имя": "string", "телефон": "string", "адрес": "string"}',
        "ФИО: Фамилия Имя Отчество",
        "Full name: ____________\nDate of birth: __/__/____",
        "Пациент: У меня болит голова.\nВрач: Давно?",
        "고객: 안녕하세요\n담당자: 네, 말씀하세요",
        "收件人：人力资源部",
        "担当者: 営業部",
        "Imię: Bohater powieści",
        "Student: Why is the sky blue?\nTeacher: Because of scattering.",
        "写一篇关于员工周末加班的文章",
        "客户陈述：系统在凌晨崩溃，请帮我分析原因。",
        "帮我做一个学生管理系统，学生任务和员工周报",
        "患者左膝疼痛三天，患者戴口罩就诊。",
        "列出学生许多常见的错误",
        "客户尚未付款怎么催",
        "叫做封装",
        "什么叫做任务队列？",
        "武田薬品と小林製薬の株価を比較",
        "川崎病治療のガイドラインを教えて",
        "伊藤忠商事の決算をまとめて",
        "大西洋横断と田中貴金属と本田技研と早川書房と中山競馬と三浦海岸",
        "渡辺直美、遠藤周作、新井白石、福田康夫、岩崎弥太郎、河野太郎とは",
        "诸葛连弩 长孙皇后 独孤九剑 欧阳询书法 公孙离皮肤",
        "Лада Веста или Лада Гранта: что выбрать?",
        "Настроить клиент Яндекса. И клиент Телеграма; сотрудник Гугла, директор Мосфильма",
        "Адрес: байт 16 в стеке\nЗначение: 0",
        "Адрес: начало массива 0x12",
        "地址: 内存地址\n值: 0x10",
        "العنوان: كيف تتعلم البرمجة",
        "כתובת: מצביע לזיכרון",
        "cím: A kőszívű ember fiai 1869",
        "名字: 变量名\n类型: 字符串",
        "联系人: 客服",
        "担当者: 営業",
        "Заказчик: ООО Ромашка",
        "tên: Hà Nội",
        "नाम: भारत",
        "ชื่อ: ประเทศไทย",
        "όνομα: Ακρόπολη",
        "adı: Menemen",
        "Name: Apollo\nAddress: 0x7ffe 1234",
        "git clone git@hf.co:meta/llama && git@git.sr.ht:~sircmpwn/aerc",
        "redis://default:$PW@usw1.upstash.io:6379",
        "8.8.8.8 dns.google\n0.0.0.0 ads.doubleclick.net",
    ],
)
def test_labels_without_a_person_are_left(people: Selective, text: str) -> None:
    assert hide(people, text) == text


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"nameNative": "王乐乐", "n": 1}', ["王乐乐"]),
        ('{"KhmerName":"រិទ្ធ មករា"}', ["រិទ្ធ មករា"]),
        ("customer: ទេព សុភា", ["ទេព សុភា"]),
        ("Имя: Иван, Телефон: +7 916 123-45-67", ["Иван", "+7 916 123-45-67"]),
        ("name: Ada Winter\naddress: 4 Mill Lane", ["Ada Winter", "4 Mill Lane"]),
        ("contact: {name: API Team, email: null}\nphone: 0170 5582 913", ["0170 5582 913"]),
        ("contact:\n  name: QA Support\n  phone: 0170 5582 913", []),
        ("name: Ada Winter", []),  # of a variable, a file or a product
    ],
)
def test_fields(text: str, found: list[str]) -> None:
    assert [text[start:end] for start, end, _ in find_fields(text)] == found


def test_a_label_is_told_from_a_value() -> None:
    text = "Фамилия: Сидоренко"
    assert is_label(text, 0, 7)
    assert not is_label(text, 9, 18)
    assert not is_label("Anna: Guten Tag!", 0, 4)


def test_labels_are_spelled_as_they_are_looked_up() -> None:
    assert all(spell(label) == label for label in (*LABELS, *NAMES))
    assert INTERFACE.isdisjoint(("", "_"))


@pytest.mark.parametrize(
    "piece",
    ["a:", "Имя: ", "Имя:И", '"имя":"', '\\"', "::", "name: Ada,", "  ", "_", "*", "\\n", "मा:"],
)
def test_any_text_is_read_in_linear_time(piece: str) -> None:
    def work(length: int) -> None:
        text = piece * (length // len(piece))
        for _ in find_fields(text):
            pass
        drop_translated(text, [])

    assert grows_linearly(work, 200_000, seconds=1.0)
