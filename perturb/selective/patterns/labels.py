"""The labels of values in some forty languages: the labels of forms, the keys of records and the
headers of tables, each with the type of what stands there."""

from __future__ import annotations

import re

from perturb.text.marks import MARKS

__all__ = [
    "BY_ROLE",
    "COLUMNS",
    "HOLDERS",
    "INTERFACE",
    "LABELS",
    "LABEL_TYPES",
    "NAMES",
    "OTHER",
    "PERSONAL",
    "ROLES",
    "is_label_alone",
    "is_word_of_code",
    "spell",
    "spell_key",
]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.casefold().split())


OTHER = ""  # what a label of no type stands for: an e-mail address is found by itself
_WORDS = {
    "PERSON": """
        お名前
        full_name first_name last_name given_name family_name middle_name surname forename
        lastname firstname fullname customer customer_name client_name patient patient_name
        employee employee_name contact_name contact_person manager owner tenant_name guest
        spouse spouse_name husband wife father_s_name mother_s_name father_name
        mother_name next_of_kin emergency_contact legal_guardian guardian_name ehepartner
        ehepartnerin ehemann ehefrau ehegatte notfallkontakt erziehungsberechtigter
        erziehungsberechtigte conjoint conjointe époux épouse nom_du_père nom_de_la_mère
        contact_d_urgence cónyuge nombre_del_padre nombre_de_la_madre contacto_de_emergencia
        coniuge contatto_di_emergenza cônjuge nome_do_pai nome_da_mãe contato_de_emergência
        attendee gast teilnehmer teilnehmerin mieter mieterin huésped ospite invité
        student student_name teacher author assignee reporter recipient sender account_holder
        cardholder vorname nachname familienname kunde kundin patientin mitarbeiter
        mitarbeiterin ansprechpartner ansprechpartnerin bearbeiter absender empfänger
        vor_und_nachname prénom prenom nom_de_famille nom_complet nom_et_prénom prénom_et_nom
        apellido apellidos nombre_completo nombre_y_apellidos cognome nome_e_cognome sobrenome
        nome_completo apelido cognoms voornaam achternaam förnamn efternamn fornavn efternavn
        etternavn etunimi sukunimi eesnimi perekonnanimi vārds uzvārds vardas pavardė imię
        nazwisko imię_i_nazwisko příjmení jméno_a_příjmení priezvisko meno_a_priezvisko priimek
        prezime ime_i_prezime teljes_név vezetéknév keresztnév családnév utónév prenume
        nume_complet nume_și_prenume emri mbiemri soyad soyadı ad_soyad adı_soyadı фамилия
        отчество фио полное_имя имя_и_фамилия фамилия_имя фамилия_имя_отчество контактное_лицо
        пациент заказчик получатель отправитель прізвище піб по_батькові одержувач
        імя_і_прізвище імя_прозвішча прозвішча презиме фамилно_име име_и_фамилия име_и_презиме
        пациентка επώνυμο ονοματεπώνυμο πλήρες_όνομα họ_và_tên họ_tên nama_lengkap jina_kamili
        비상연락처 보호자 보호자명 배우자명 اسم_الزوج اسم_الزوجة اسم_الأب اسم_الأم 紧急联系人
        姓名 真实姓名 客户姓名 患者姓名 收件人 寄件人 氏名 患者名 フリガナ ふりがな 宛名 성명
        성함 고객명 환자명 الاسم_الكامل اسم_العميل اسم_المريض الاسم_الأول اسم_العائلة اللقب
        שם_מלא שם_פרטי שם_משפחה נמען نام_خانوادگی نام_و_نام_خانوادگی نام_کامل पूरा_नाम นามสกุล
        ชื่อ_นามสกุล នាមត្រកូល អ្នកទទួល გვარი სახელი_გვარი ազգանուն овог аты_жөні
    """,
    "DATE_OF_BIRTH": """
        date_naissance fecha_nacimiento data_nascita data_nascimento date_birth geb_datum
        né_e_le né_le née_le ddn date_naiss geb_am geboren_am born_on fecha_nac
        dob birth birthday birthdate birth_date date_of_birth born geburtsdatum geburtstag geboren
        geb date_de_naissance naissance fecha_de_nacimiento nacimiento data_de_nascimento
        data_di_nascita data_de_naixement geboortedatum födelsedatum fødselsdato syntymäaika
        sünniaeg dzimšanas_datums gimimo_data data_urodzenia datum_narození dátum_narodenia
        datum_rojstva datum_rođenja születési_dátum születési_idő data_nașterii doğum_tarihi
        дата_рождения день_рождения дата_народження день_народження дата_на_раждане
        датум_рођења ημερομηνία_γέννησης ngày_sinh tanggal_lahir 出生日期 出生年月 出生 生日
        生年月日 誕生日 생년월일 생일 تاريخ_الميلاد תאריך_לידה تاریخ_تولد जन्म_तिथि जन्मतिथि
        जन्मदिन জন্ম_তারিখ பிறந்த_தேதி పుట్టిన_తేదీ วันเกิด ថ្ងៃខែឆ្នាំកំណើត
        დაბადების_თარიღი ծննդյան_ամսաթիվ
    """,
    "STREET_ADDRESS": """
        address street street_address home_address postal_address adresse straße strasse anschrift
        rue dirección direccion calle domicilio indirizzo endereço morada adreça adres adress
        heimilisfang osoite aadress adrese adresas adresa bydliště bydlisko naslov lakcím cím
        adresă ev_adresi
        адрес домашний_адрес адрес_проживания адрес_доставки почтовый_адрес адреса
        διεύθυνση địa_chỉ alamat 地址 住址 家庭住址 收货地址 住所 ご住所 주소 العنوان כתובת آدرس
        نشانی पता ঠিকানা முகவரி చిరునామా ವಿಳಾಸ വിലാസം સરનામું ที่อยู่ ທີ່ຢູ່ អាសយដ្ឋាន လိပ်စာ
        მისამართი հասցե хаяг мекенжайы
    """,
    "PHONE_NUMBER": """
        phone telephone tel mobile cell phone_number mobile_number telefon telefonnummer handy
        mobil téléphone portable teléfono telefono móvil movil cellulare telefone telemóvel
        celular telèfon telefoon telefoonnummer mobiel sími puhelin puhelinnumero telefonas
        tālrunis numer_telefonu telefon_komórkowy mobilní_telefon telefonszám nr_telefon
        telefon_numarası cep_telefonu cep телефон тел номер_телефона мобильный
        мобильный_телефон моб номер_телефону мобільний τηλέφωνο κινητό số_điện_thoại điện_thoại
        telepon nomor_telepon no_telepon no_hp 电话 电话号码 联系电话 手机 手机号 手机号码 電話
        手機 聯絡電話 電話番号 携帯電話 携帯 전화 전화번호 휴대폰 휴대전화 연락처 الهاتف
        رقم_الهاتف الجوال المحمول טלפון נייד מספר_טלפון تلفن موبایل شماره_تلفن फोन फ़ोन मोबाइल
        ফোন মোবাইল தொலைபேசி கைபேசி ఫోన్ ಫೋನ್ ഫോൺ ફોન โทรศัพท์ เบอร์โทร เบอร์โทรศัพท์ โทร
        ទូរស័ព្ទ ဖုန်း ტელეფონი հեռախոս утас
    """,
    "USERNAME": """
        user username user_name login handle benutzer benutzername utilisateur nom_d_utilisateur
        usuario nombre_de_usuario usuário nome_de_usuário utente nome_utente gebruiker
        gebruikersnaam användare användarnamn brugernavn brukernavn käyttäjätunnus käyttäjä
        użytkownik nazwa_użytkownika uživatel uživatelské_jméno felhasználónév utilizator
        kullanıcı kullanıcı_adı пользователь имя_пользователя користувач ім_я_користувача
        όνομα_χρήστη tên_đăng_nhập nama_pengguna 用户 用户名 使用者名稱 ユーザー ユーザー名
        사용자 사용자_이름 المستخدم اسم_المستخدم שם_משתמש نام_کاربری उपयोगकर्ता_नाम ชื่อผู้ใช้
    """,
    "PASSWORD": """
        password passwd pwd passphrase secret token api_key apikey secret_key access_token pin
        access_key alarm_code alarm_pin api_secret backup_code backup_codes client_secret cvc cvv
        door_code network_key pin_code private_key puk pw recovery_code recovery_codes
        secret_access_key security_code türcode wi_fi_key wi_fi_password wifi_key wifi_password
        wlan_key wlan_passwort wlan_schlüssel
        passwort kennwort mot_de_passe contraseña clave пароль 密码 密碼 パスワード 비밀번호
        كلمة_المرور סיסמה hasło heslo jelszó şifre parola senha wachtwoord lösenord salasana
    """,
    "NATIONAL_ID": """
        ssn social_security social_security_number national_id passport passport_number
        passport_no id_card tax_id tin nhs nhs_number sozialversicherungsnummer steuer_id
        ausweisnummer reisepass insee dni nie cpf codice_fiscale bsn burgerservicenummer
        personnummer fødselsnummer cpr_nummer henkilötunnus isikukood asmens_kodas pesel
        rodné_číslo emšo oib cnp személyi_szám tc_kimlik_no t_c_kimlik_no kimlik_no паспорт
        серия_и_номер_паспорта инн снилс рнокпп егн јмбг αφμ αμκα cccd cmnd số_cccd nik no_ktp
        身份证 身份证号 身份证号码 護照號碼 护照 护照号 マイナンバー 個人番号 주민등록번호
        여권번호 رقم_الهوية رقم_جواز_السفر תעודת_זהות מספר_זהות ת_ז کد_ملی आधार आधार_संख्या
        เลขบัตรประชาชน
    """,
    "ORGANIZATION": """
        company employer organisation organization firm firma arbeitgeber unternehmen société
        entreprise employeur empresa
    """,
    "BIRTHPLACE": """
        place_of_birth birthplace geburtsort lieu_de_naissance lugar_de_nacimiento
        luogo_di_nascita место_рождения
    """,
    "LOCATION": "city town village residence wohnort stadt ort ville ciudad municipio",
    "MONEY": "salary wage income pay gehalt lohn einkommen salaire salario",
    "ACCOUNT_NUMBER": """
        customer_id client_id patient_id employee_id member_id account_id account_number mrn
        number_plate license_plate licence_plate kennzeichen
        bank_account bank_account_number numéro_de_compte número_de_cuenta numero_di_conto
        número_da_conta rekeningnummer номер_счёта номер_счета 银行账号 银行卡号 口座番号
        customer_no policy_number kundennummer patientennummer personalnummer matrikelnummer
    """,
    "CASE_NUMBER": """
        case_number case_no file_number order_no order_number invoice_no invoice_number
        contract_no contract_number policy_no claim_no claim_number mandate loyalty loyalty_number
        membership_number insurance_number
        aktenzeichen rechnungsnummer auftragsnummer bestellnummer vertragsnummer
        versicherungsnummer
        numéro_de_dossier numéro_de_commande número_de_pedido número_de_expediente
    """,
    OTHER: """
        email e_mail mail email_address город пол возраст примечание комментарий почта
        электронная_почта должность компания місто стать вік пошта ηλεκτρονικό_ταχυδρομείο email
        πόλη 邮箱 电子邮件 電子郵件 城市 性别 年龄 メール メールアドレス 性別 年齢 都市 이메일
        성별 나이 도시 البريد_الإلكتروني المدينة العمر الجنس דואר_אלקטרוני דוא_ל עיר גיל מין
        ایمیل شهر سن ईमेल शहर उम्र ইমেইল শহর மின்னஞ்சல் อีเมล เมือง អ៊ីមែល էլ_փոստ ქალაქი
        ელფოსტა e_posta şehir thành_phố kota miasto wiek uwagi město poznámka város kaupunki
    """,
}
# What else programs write on their buttons and above their lists.
INTERFACE = _words(
    """
    log_in log_out sign_in sign_out sign_up search settings save cancel delete edit file close
    confirm_password anmelden abmelden einloggen suchen einstellungen speichern abbrechen
    löschen datei bearbeiten connexion déconnexion se_connecter rechercher paramètres
    enregistrer annuler supprimer fichier iniciar_sesión cerrar_sesión buscar ajustes guardar
    cancelar eliminar archivo editar entrar sair salvar excluir pesquisar configurações arquivo
    accedi esci cerca impostazioni salva annulla elimina modifica inloggen uitloggen zoeken
    instellingen opslaan annuleren verwijderen bestand logga_in logga_ut sök inställningar
    spara avbryt ta_bort log_ind log_ud søg indstillinger gem annuller slet kirjaudu hae
    asetukset tallenna peruuta poista zaloguj wyloguj szukaj ustawienia zapisz anuluj usuń plik
    přihlásit odhlásit hledat nastavení uložit zrušit smazat soubor belépés kilépés keresés
    beállítások mentés mégse törlés fájl autentificare căutare setări salvează anulează șterge
    giriş giriş_yap çıkış ara ayarlar kaydet iptal sil dosya düzenle войти вход выйти выход
    поиск настройки сохранить отмена удалить файл изменить правка увійти вийти пошук
    налаштування зберегти скасувати видалити вхід изход търсене настройки запази отказ изтрий
    σύνδεση αποσύνδεση αναζήτηση ρυθμίσεις αποθήκευση ακύρωση διαγραφή αρχείο đăng_nhập
    đăng_xuất tìm_kiếm cài_đặt lưu hủy xóa masuk keluar cari pengaturan simpan batal hapus 登录
    登錄 登出 退出 搜索 搜尋 设置 設定 保存 儲存 取消 删除 刪除 文件 编辑 編輯 确认 ログイン
    ログアウト 検索 保存 キャンセル 削除 ファイル 編集 로그인 로그아웃 검색 설정 저장 취소 삭제
    파일 편집 تسجيل_الدخول تسجيل_الخروج خروج بحث الإعدادات حفظ إلغاء حذف ملف تحرير התחברות
    יציאה חיפוש הגדרות שמירה ביטול מחיקה קובץ ورود خروج جستجو تنظیمات ذخیره लॉगिन खोजें
    सेटिंग्स सहेजें रद्द_करें เข้าสู่ระบบ ออกจากระบบ ค้นหา ตั้งค่า บันทึก ยกเลิก ลบ jeton ficha
    gettone żeton токен 令牌 トークン 토큰 geheimnis secreto segreto sekret секрет 密钥 秘密鍵
    비밀 gizli geheim hemlighet e_posta courriel correo_electrónico e_mailadresse e_post
    şifremi_unuttum hoş_geldiniz willkommen bienvenue bienvenido benvenuto witaj welkom
    välkommen volledige_naam
    """
)
# What people are, in programs and in records.
ROLES = _words(
    """
    kontakt contacto contatto contato контакт 連絡先 連絡 autor auteur autore автор 作者 작성자
    yazar författare besitzer propriétaire propietario proprietario właściciel владелец 所有者
    소유자 eigenaar ägare sahip client cliente klient клиент 客户 顧客 고객 müşteri klant kund
    المؤلف المالك العميل المريض المرسل kundin patientin mitarbeiter mitarbeiterin bearbeiter
    absender empfänger ansprechpartner ansprechpartnerin пациент пациентка заказчик получатель
    отправитель одержувач 患者 收件人 寄件人 담당자 担当者 联系人 聯絡人 contact author owner
    paciente pacjent paziente patiënt nadawca remitente mittente expéditeur gönderen hasta
    发件人 送信者 환자 보낸_사람 afzender avsändare patient sender
    """
)
# A person's name, or a thing's.
NAMES = _words(
    """
    ad name names nom nome nombre contact contacts person kontakt who wer qui quién имя ім_я
    імя име όνομα adı isim név nume nimi namn navn naam nafn tên nama 名字 名前 이름
    الاسم שם نام नाम नाव নাম பெயர் పేరు ಹೆಸರು പേര് નામ ਨਾਮ නම ชื่อ ຊື່ ឈ្មោះ အမည် სახელი անուն
    ስም нэр ime meno jméno 担当者 联系人 聯絡人 담당자
    """
)
# What persons are in a row: their column may also hold a team or a thing.
BY_ROLE = _words(
    """
    account_executive account_manager agent applicant appraiser appraisee approver approved_by
    arranged_by assigned_to attorney beneficiary bewohner booked_by buyer candidate caregiver
    carer caseworker claimant cleaner client_contact coach colleague consultant
    counsellor counselor created_by debtor defendant dentist doctor donor driver entered_by
    evaluator examiner facilitator followed_by founder friend gp handled_by heir inspector
    instructor insured intern interviewee interviewer introduced_by landlord lawyer lead
    lecturer lodger mentee mentor moderator nanny nurse nurse_in_charge occupant operator
    organiser organizer parent participant passenger payee payer physician player
    point_of_contact policyholder policy_holder prepared_by presenter proofreader prospect
    pupil raised_by referee referrer referred_by renter reported_by requested_by requester
    resident responsible responsible_person reviewed_by reviewer sales_rep salesperson scorer
    seller shareholder signatory signed_by sitter speaker staff staff_member submitted_by
    subscriber substitute supervisor team_lead technician tenant therapist trainee trainer
    traveler traveller tutor tutee verified_by volunteer witness worker angelegt_von
    angestellte angestellter ansprechperson antragsteller antragstellerin anwalt anwältin arzt
    ärztin aufsicht auszubildende auszubildender azubi bearbeitet_von beauftragte beauftragter
    beklagte beklagter beschäftigte beschäftigter betreuer betreuerin bewerber bewerberin
    bewohnerin dozent dozentin ehrenamtliche elternteil erstellt_von fachkraft fahrer fahrerin
    freigegeben_von geprüft_von geschäftsführer geschäftsführerin gesellschafter gutachter
    hausarzt hausärztin inhaber inhaberin kind klient klientin kläger klägerin kollege
    kollegin kontoinhaber kontoinhaberin käufer käuferin leiter leiterin leitung lehrer
    lehrerin lehrkraft mitglied moderation pfleger pflegerin pflegekraft praktikant
    praktikantin prüfer prüferin referent referentin sachbearbeiter sachbearbeiterin schüler
    schülerin spender spenderin spieler spielerin stellvertreter stellvertretung teamleiter
    teamleiterin teamleitung therapeut therapeutin trainerin unterschrieben_von verantwortlich
    verantwortliche verantwortlicher verfasser verkäufer verkäuferin vermieter vermieterin
    vermittelt_von versicherte versicherter versicherungsnehmer vertreter vertretung
    vorgesetzte vorgesetzter zeuge zeugin zugewiesen_an zuständig acheteur adhérent adhérente
    animateur arbitre assigné_à assuré assurée avocat bénéficiaire bénévole candidat chauffeur
    conducteur créé_par demandeur demandeuse dentiste élève employé employée encadrant enfant
    enseignant enseignante entraîneur formateur formatrice infirmier infirmière interlocuteur
    intervenant intervenante joueur joueuse locataire médecin médecin_traitant membre
    participante patron responsable salarié salariée signataire stagiaire suivi_par témoin
    titulaire traité_par vendeur vendeuse abogado abogada alumno alumna asegurado asignado_a
    asistente candidato comprador conductor creado_por docente empleado empleada encargado
    encargada enfermera enfermero entrenador inquilino jugador médico niño ponente profesor
    profesora propietario socio solicitante testigo titular trabajador vendedor voluntario
    allenatore alunno alunna assegnato_a avvocato candidata dipendente giocatore infermiera
    insegnante intestatario medico partecipante proprietario referente relatore responsabile
    richiedente studente testimone venditore advogado aluno aluna atribuído_a funcionário
    funcionária jogador médica motorista professor responsável segurado sócio testemunha
    begeleider bestuurder deelnemer huisarts huurder kandidaat leerling lid medewerker
    patiënte speler spreker verantwoordelijke verhuurder verkoper verzekerde nauczyciel
    najemca odpowiedzialny pracownik prowadzący uczeń uczestnik uczestniczka wynajmujący
    zawodnik świadek ansvarig deltagare elev hyresgäst lärare medlem spelare водитель врач
    исполнитель ответственный покупатель преподаватель продавец сотрудник студент ученик
    участник 老师 学生 负责人 负责人姓名 患者 员工 会员 経理 担当 生徒 社員 会員
    """
)
# Of the labels of persons, those of who has a thing, which may be a team.
HOLDERS = _words("owner manager author assignee")
# What else columns of tables of persons are called, each word of it: hardly anybody's name.
COLUMNS = _words(
    """
    absences absent allergies allergy amount assists attendance average balance birthday bonus
    budget calories centre class colour color comment comments commission cost course cups
    deadline department diet discount duration entry excused fees food gender goals grade height
    hours id ids job laps late leave level lunch minutes month months nationality no
    notes nr number paid participation payment percent percentage points position present
    priority quantity quarter rank rating region remarks result results revenue salary score
    scores seat shift shifts size speed start status steps subject subjects targets task tasks
    team tenure time times total units vacation votes wage weight wins year years
    abschluss abteilung allergien alter anfang anmerkung anmerkungen anwesend anwesenheit anzahl
    aufgabe aufgaben ausgaben beginn beitrag bemerkung bemerkungen beruf betrag bewertung
    bezahlt datum dauer dienst eingang einnahmen eintritt ende ergebnis ergebnisse essen fach
    farbe fehlzeiten frist funktion fällig gebühr gehalt geld geschlecht gewicht größe gruppe
    guthaben hinweis jahr kalorien kategorie klasse kommentar kosten kostenstelle kurs
    lieblingsfarbe lohn mannschaft menge minuten monat nationalität nummer platz position posten
    preis priorität projekt prozent prüfung punkte punktzahl quartal rang raum rolle saldo
    schicht status stelle strafe stunden stundenlohn summe tag tage tore tätigkeit umsatz
    uhrzeit urlaub urlaubstage verein vertrag wert wohnort woche zahlung zeit zeiten ziel
    ziele zimmer zustand
    auftraggeber begünstigter bic buchung buchungstag credit currency debit empfänger iban
    startzeit valuta verwendungszweck wertstellung währung zahlungsempfänger
    adhésion allergies ancienneté année arrivée classe commentaire commentaires contrat cours
    date durée début effectif fin fonction heure heures jours matière mois montant moyenne
    niveau nombre note notes poids poste présence priorité prix projet quantité rang remarque
    remarques repas retard résultat résultats salaire salle service statut taille tarif tâche
    tâches total âge échéance équipe
    alergias altura asignatura asistencia aula calificación cantidad cargo clase comentario
    comentarios contrato curso departamento edad equipo estado fecha fin horas importe inicio
    nivel nota notas observaciones peso precio prioridad proyecto puesto puntos resultado
    sueldo tarea tareas turno
    allergie altezza anni classe compito compiti corso data età fine giorni importo inizio
    materia note ore peso prezzo punteggio punti quantità reparto risultato ruolo scadenza
    squadra stato stipendio turno voto
    afdeling bedrag begin cijfer datum einde functie gewicht klas leeftijd lengte opmerking
    opmerkingen prijs punten resultaat rol salaris status taak uren vak
    altura cargo comentários contrato data departamento estado horas idade nota observações peso
    pontos preço prioridade resultado salário tarefa turma turno
    """
)
# Columns that make it a person's.
PERSONAL = _words("age email e_mail mail gender sex alter geschlecht âge sexo edad")
LABEL_TYPES = tuple(type_ for type_ in _WORDS if type_)
_BETWEEN = re.compile(rf"[^\w{MARKS}]+|_+")
_TURN = re.compile("(?<=[a-z])(?=[A-Z])")  # of camelCase


def spell(label: str) -> str:
    """Return a label in small letters, with underscores between its words.

    >>> spell(" *Date of birth* ")
    'date_of_birth'
    """
    return _BETWEEN.sub("_", label.casefold()).strip("_")


def spell_key(key: str) -> str:
    """Return the label that a key is, also in camelCase.

    >>> [spell_key(key) for key in ("customerId", "Customer ID", "passportNo")]
    ['customer_id', 'customer_id', 'passport_no']
    """
    return spell(_TURN.sub("_", key))


LABELS = {spell(word): type_ for type_, words in _WORDS.items() for word in words.split()}


def is_label_alone(word: str) -> bool:
    """Tell if a word is a label and hardly anybody's name: that of a name, or one in other letters
    than English has. `Street` may be a name.

    >>> [is_label_alone(word) for word in ("Фамилия", "Nimi", "Street")]
    [True, True, False]
    """
    plain = spell(word)
    return plain in NAMES or (not word.isascii() and plain in LABELS)


def is_word_of_code(label: str) -> bool:
    """Tell if a spelled label is one that programs use as well, such as `address`."""
    return label.isascii() and "_" not in label.replace("_name", "").replace("_number", "")
