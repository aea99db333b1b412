"""Contact data, accounts, dates of birth and persons: what is evidence, and what is none."""

from __future__ import annotations

import json

import pytest

from perturb import get_mechanism
from perturb.selective.policies import PatternPolicy
from tests.perturb.selective.test_secrets import read_marked
from tests.tables import bundled_table

TYPES = (
    *("EMAIL_ADDRESS", "PHONE_NUMBER", "CREDIT_CARD", "IBAN_CODE", "NATIONAL_ID", "US_SSN"),
    *("VAT_NUMBER", "STREET_ADDRESS", "ZIP_CODE", "IP_ADDRESS", "INTERNAL_HOST", "MAC_ADDRESS"),
    "CASE_NUMBER",
    *("URL", "USERNAME", "DATE_OF_BIRTH", "PERSON", "PASSWORD", "API_KEY", "PRIVATE_KEY"),
    *("ACCOUNT_NUMBER", "COORDINATES", "CRYPTO", "PUBLIC_KEY", "DIAGNOSIS_CODE", "BIRTHPLACE"),
)
POLICY = PatternPolicy.shipped(TYPES)

# type: lines with the part between the marks ⟦ and ⟧; ⏎ is the end of a line
FOUND = {
    "USERNAME": r"""
        in /home/⟦nlindner⟧/notes
        in /Users/⟦nele.l⟧/Documents
        in C:\Users\⟦nelel⟧\Desktop
        "C:\\Users\\⟦nelel⟧\\Desktop"
        uid=1000(⟦nelel⟧) gid=1000
        ssh ⟦nelel⟧@10.6.3.19
        rsync -av x ⟦leahw⟧@backup:/srv
        user: ⟦nlind⟧
        username=⟦nlind⟧
        "username": "⟦nele.lind⟧"
        login: ⟦nlind⟧
        DB_USER=⟦nlindner⟧
        SMTP_USER=⟦wiebke.lind⟧
        ansible_user: ⟦skaltenbach⟧
        usuario = DESPACHO\⟦iarrizabalaga⟧
        2026 INFO user=⟦nlindner⟧ action=login
        login ok user=⟦m.papathanasiou⟧ took=41ms
        curl -u ⟦nelel⟧:$PASS https://x.org
        psql -U ⟦leah⟧ shop
        CREATE USER '⟦u.petersohn⟧'@'%'
        DROP USER ⟦obrandl⟧;
        My username is ⟦junihale⟧. It works
        so login ⟦mholz82⟧, see below
        mon identifiant : ⟦pdelarue⟧, merci
        el usuario es ⟦jgarmendia⟧ y ya
        логін ⟦zoreslava_7⟧, дякую
        felhasználónév ⟦hajni88⟧, köszi
        GRANT SELECT ON orders TO "⟦reiniger⟧";
        Accepted publickey for ⟦vtikhonov⟧ from
        auth=("⟦g.haverkamp⟧", PASSWORD)
        machine git.x.org login ⟦fneledzij⟧ password $X
        see https://github.com/⟦nele-lind⟧ for more
        see https://www.linkedin.com/in/⟦nele-lindner-12⟧
        see https://twitter.com/⟦nele_lind⟧
        see https://instagram.com/⟦nele.lind⟧/
        tg: https://t.me/⟦nelelind⟧
        on https://mastodon.social/@⟦lilou_qmr⟧
        ping @⟦nele_lind⟧ on Slack
        Write to her, or @⟦inostrozarisk⟧ everywhere
        mastodon: "@⟦lilou_qmr⟧"
        GitHub user ⟦nele-lindner⟧ wrote it
        chat `⟦haoran.zh⟧` is open
        [20:14:40] <⟦badger_marzena⟧> hi
        <td>@⟦kostis_mm⟧</td>
        postgres://⟦billing_mh⟧:${PASS}@db/x
        postgresql://⟦billing⟧:${PASS}@db/x
    """,
    "DATE_OF_BIRTH": """
        born in Onitsha on ⟦12 April 1988⟧ and
        nato a Chioggia il ⟦8/7/1985⟧, con
        nata il ⟦4 maggio 1984⟧ a Ferrara
        geboren ⟦4 mei 1984⟧ te Ommen
        DOB ⟦030490⟧.
        生年月日：⟦平成3年7月14日⟧
        <input type="date" name="dob" value="⟦1994-03-08⟧">
        she was born on ⟦12 May 1984⟧ there
        DOB: ⟦1987-06-09⟧
        date of birth ⟦27/10/1961⟧, hospital
        "birthDate": "⟦1968-11-02⟧"
        "birth_date": "⟦1968-11-02⟧"
        born: '⟦1983-03-27⟧'
        data-born="⟦1988-12-24⟧"
        BDAY:⟦19851130⟧
        geb. ⟦17.05.1953⟧, wohnhaft
        geboren am ⟦3. Februar 1962⟧ dort
        Geburtsdatum: ⟦07.10.1976⟧
        née le ⟦5 mars 1990⟧ ici
        né(e) le ⟦05/03/1990⟧
        date de naissance : ⟦05/03/1990⟧
        nacida el ⟦3 de febrero de 1962⟧ allí
        Nacido el ⟦08-09-1990⟧
        fecha de nacimiento: ⟦08/09/1990⟧
        nar. ⟦14. 5. 1983⟧
        出生日期：⟦1987-06-09⟧
        生年月日: ⟦1987年6月9日⟧
        🎂⟦1987-06-09⟧
        my birthday is on ⟦3 March⟧ again
        dob=⟦1979-05-21⟧, afm
        ("Mira Holzapfel", "⟦1984-03-02⟧", "x"),
        Mira;Holzapfel;⟦1984-03-02⟧;Ulm
        mira@lindenhof.example,⟦1984-03-02⟧,12
        BORN = {"Mira Holzapfel": "⟦1984-03-02⟧"}
        {\"Mira Holzapfel\": \"⟦1984-03-02⟧\"}
        was born on ⟦the second of March nineteen eighty-four⟧ there
        born on ⟦March the second, 1984⟧ there
        born on ⟦3 May 1984⟧ and turned ⟦forty⟧ now
        Oskar Brandl, b. ⟦17 Mar 1979⟧, nurse
        MSTR LEO BRANDL (CHD) born ⟦08NOV2016⟧
        2 BIRT ⟦9 AUG 1977⟧
        0 Mira Holzapfel    ⟦1984-03-02⟧  917-555-0102
        3 Petra Wallner F ⟦14/06/12⟧ AUT
        (Mira Holzapfel, ⟦02.03.1984⟧)
        我出生于⟦1984年3月2日⟧，现住
        生年月日は⟦平成4年6月3日⟧です
        doğum tarihim ⟦02.03.1984⟧.
        народилася ⟦02.03.1984⟧, живе
        γεννημένη στις ⟦2 Μαρτίου 1984⟧.
        जन्मतिथि ⟦2 मार्च 1984⟧, और
        مواليد ⟦٢ مارس ١٩٨٤⟧، وأسكن
    """,
    "BIRTHPLACE": """
        born in ⟦Onitsha⟧ on 12 April 1988 and
        nato a ⟦Chioggia⟧ il 8/7/1985, con
        geb. 03.09.1991 in ⟦Pforzheim⟧. Danach
        born on 3 May 1984 in ⟦Graz⟧ and
        geboren am 3. Mai 1984 in ⟦Bad Ischl⟧.
        née le 5 mars 1990 à ⟦Nantes⟧,
        born on the second of March 1984 in ⟦Ulm⟧ and
    """,
    "ACCOUNT_NUMBER": """
        Kunden-Nr. ⟦774120⟧, danke
        Pers.-Nr. ⟦004417⟧ im
        cliente n.º ⟦88120⟧ y
        Réf. client ⟦881204⟧.
        car reg ⟦KX19 WFZ⟧. Thanks
        plaka ⟦34 KLM 447⟧, tel
        Kontrollschild ⟦ZH 447188⟧.
        SPZ ⟦5A4 4718⟧, tel
        order number ⟦4539 1488 0343 6468⟧ is late
        my order #⟦1002003⟧ never came
        invoice number ⟦INV-2024-00713⟧ of 3 May
        customer no.: ⟦88-31-770⟧
        policy no ⟦AB-7734512-C⟧ ends
        client ID ⟦1002003⟧
        student id: ⟦2019034455⟧
        Kundennummer: ⟦8837261⟧
        numéro de client ⟦12 845 671⟧ merci
        número de cuenta: ⟦00817723⟧
        the number of the account at the bank is ⟦803451789⟧.
        last four digits ⟦6467⟧, please
        the last 4 digits of my card are ⟦6467⟧
        the account ending in ⟦0912⟧ is
        paid with card **** **** **** ⟦0912⟧ on
        card: exp ⟦09/27⟧ CVV
        GET /api/v1/users/⟦48213⟧/orders 200
        policy ⟦KFZ/20417/883⟧ ends
        licence ⟦SEC-204178⟧ is valid
        booking ⟦2041.788.310⟧, room 4
        waybill ⟦JD014600002041788310⟧ was
        (ref ⟦QF8820417⟧)
        tax reference ⟦2041788310K⟧ by July
        confirmation ⟦TX4QRM⟧, seats
        localizador ⟦HB3ZTW⟧, cinco
        share code ⟦Q7W4RT⟧.
        reg ⟦FG21 UWD⟧, was hit
        a grey Corsa, ⟦WN19 HKL⟧. I
        left my account ⟦20-45-77 43817720⟧ for
        the card ending ⟦6467⟧ was
        "last4":"⟦6467⟧","exp"
        Visa …⟦6467⟧ was
        "card":"visa","exp":"⟦09/27⟧"
        card: MC ⟦5397 8649 9257 4896⟧ ⟦04/29⟧ LDW
    """,
    "NATIONAL_ID": """
        AHV-Nr. ⟦756.6554.9155.26⟧, danke
        UTR ⟦44718 82931⟧, car
        PAN: ⟦BNZPM2501F⟧;
        licence ⟦HOLZA 802149 M99AB 12⟧ is
        Kennitala: ⟦230199-2389⟧
        TAJ szám ⟦447 188 291⟧, szig. ⟦447188KL⟧
        ІПН ⟦3044718829⟧, дякую
        dowód ⟦CBK447188⟧, nr
        رقم الهوية ⟦1044718829⟧.
        numéro fiscal est ⟦30 23 217 600 053⟧.
        A-number ⟦A204-471-882⟧;
        NIN ⟦QQ 12 34 56 C⟧, then
        CPF ⟦529.982.247-25⟧, then
        Aadhaar ⟦2341 2341 2346⟧, then
        HKID ⟦A123456(3)⟧, then
        AHV ⟦756.9217.0769.85⟧ and
        SIN ⟦046 454 286⟧ and
        MRN ⟦00482913⟧, ward 3
        passport number: ⟦X1234567⟧ expires
        Passport No. ⟦533380006⟧
        Reisepass-Nr. ⟦C01X00T47⟧ liegt
        паспорт ⟦4509 123456⟧, выдан
        身份证号：⟦110105199003071234⟧
        driver's license number is ⟦D123-4567-8901⟧
        the social security number is ⟦123 45 6781⟧.
        GMC ⟦7204178⟧, consultant
        PPSN ⟦1204178FA⟧ and
        imei = "⟦356204178331932⟧"
        {"nif":"⟦203822226⟧"}
        My ORCID is ⟦0000-0002-1825-0097⟧.
        her passport copy, ⟦534204178⟧. Yours
        {"system":"urn:nhs","value":"⟦9605450046⟧"}
        社員番号⟦M-204178⟧の
        マイナンバーは⟦142754465165⟧です
        주민등록번호는 ⟦930227-2673967⟧입니다
        आधार संख्या ⟦2872 1845 2070⟧, और
        ת"ז ⟦249418872⟧, תאריך
        ΑΦΜ ⟦675434492⟧, και
        kimlik numaram ⟦79767480288⟧, ve
    """,
    "COORDINATES": """
        the house stands at ⟦52.520008, 13.404954⟧ there
        she lives at ⟦52°31'12"N 13°24'18"E⟧ now
        what3words ⟦///filled.count.soap⟧, please
        plus code ⟦9F4MGCH7+R6⟧ is
    """,
    "CRYPTO": """
        btc ⟦bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq⟧ now
        pay ⟦1BoatSLRHtKNngkdXEeobR76b53LETtpyT⟧ now
        my wallet is ⟦0x52908400098527886E0F7030069857D2E4169EE7⟧.
    """,
    "PUBLIC_KEY": """
        ssh-ed25519 ⟦AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl⟧ mira@x
    """,
    "DIAGNOSIS_CODE": """
        has ICD-10 ⟦F32.1 and E11.9⟧, she
        diagnosis code: ⟦J45.20⟧
    """,
    "IBAN_CODE": """
        IBAN: ⟦DE89 3704 0044⏎0532 0130 00⟧⏎BIC COBADEFF
        IBAN ⟦DE89 3704 0044 0532 0130 00⟧ BIC COBADEFF
    """,
    "EMAIL_ADDRESS": """
        VALUES (1, '⟦mira.holz@kestrel.example⟧')
        to ⟦o'brien@kestrel.example⟧
        write to ⟦nele@lindenhof.example⟧ now
        nele [at] x: ⟦nele [at] lindenhof [dot] example⟧ now
        is ⟦nele(at)lindenhof.example⟧ now
        is ⟦nele at lindenpost dot org⟧ now
        ?mail=⟦ngozi.eze%40harmattan.example⟧&x=1
        mailto:⟦nele%40lindenpost.org⟧
        an ⟦käthe.füßli@bäckerei-münster.de⟧ bitte
    """,
    "PHONE_NUMBER": """
        电话⟦13812345678⟧。
        携帯⟦090-4417-2963⟧です
        手机：⟦138 1234 5678⟧
        &tel=⟦%2B2348121130096⟧&x
        office 5,⟦+7 812 640 11 93⟧)
        call ⟦1300 975 707⟧ now
        My number is: ⟦034453334⟧. Reply
    """,
    "STREET_ADDRESS": """
        <address> ⟦11 ter, passage des Tanneurs⟧<br />
        at ⟦Shuinan Road 66⟧ there
        "address": "⟦9 Banksia Rise⟧"
        "street": "⟦Hlíðarsel 22⟧"
        Adresse: "⟦Gut Hasselbrook 1⟧"
        in der ⟦Kiefernstieg 23⟧ dort
        in der ⟦Kirschkernstraße 41, Hinterhaus, 14059 Berlin⟧. Für
        ⟦Lindwurmstr. 112, Whg. 17 · 80337 München⟧
        ⟦Oxbergsvägen 18, 792 96 Mora⟧, och
        adres is ⟦Schuitendiep 31-2, 9712 KE Groningen⟧. Bellen
        ⟦Rua do Heroísmo 212, 3.º Esq, 4300-259 Porto⟧?
        at ⟦12 Pebble Rise⟧ and
        at ⟦12 Scarcroft Hill⟧, York
        réunion, ⟦8 passage du Moulin⟧
        She lives at ⟦Foxglove Barn⟧, Shap
        Address: ⟦Old Mill House⟧, Bewdley DY12 2AE
        адрес: ⟦г. Тула, ул. Сиреневая, д. 35, кв. 90⟧
        живу в ⟦м. Львів, вул. Садова, 184, кв. 12⟧, у
        είναι ⟦Αγίας Λαύρας 52, 104 46 Αθήνα⟧ και
        Adresim: ⟦Bahariye Cad. Umut Apt. No: 61/8⟧, Kadıköy.
        גר ב⟦רחוב הגפן 23, דירה 6⟧, חיפה
        في ⟦حي النرجس، شارع الصفا، مبنى ٤٤، شقة ٧⟧، الرياض
        पता: ⟦मकान 41, अस्सी घाट गली, वाराणसी 221005⟧
        ⟦成都市锦江区东大街牛市口段9号2单元504⟧了
        마포구 ⟦성미산로 27길 15, 302호⟧입니다
    """,
    "ZIP_CODE": """
        code ⟦SW1A 1AA⟧ it is
        zip: ⟦12345-6789⟧ it is
        <plz>⟦5020⟧</plz>
        PLZ ⟦10115⟧ it is
        to ⟦111 22⟧ Stockholm
        to ⟦1234 AB⟧ Utrecht
        Am Hasenberg 14;⟦37085⟧;Göttingen
        {Haus am See 3\\\\⟦17207⟧ Röbel}
        Cork ⟦T23 KX84⟧, Ireland
        離職票は〒⟦602-8127⟧ 京都
    """,
    "IP_ADDRESS": """
        from ⟦91.198.174.192⟧ port 22
        ip=⟦203.0.113.41⟧ GET
        peer ⟦2001:db8:77c1::91bf:22:604a⟧
        to ⟦2a01:4f8:c0c:1234::1⟧ now
    """,
    "INTERNAL_HOST": r"""
        postgresql://app:${PASS}@⟦pg-main.lindenhof.example⟧/main
        git clone ssh://git@⟦code.lindenhof.example⟧:7999/x.git
        remote: git@⟦git.lindenhof.example⟧:shop/app.git
        redis://:${PASS}@⟦neon.lindenhof.example⟧:6379/0
        ⟦10.20.4.10⟧	⟦erp.lindenhof.example⟧ erp
        ansible_host: ⟦10.41.7.21⟧
        host = ⟦10.8.0.14⟧
        DB_HOST=⟦10.6.3.19⟧
        mysql -h ⟦10.60.1.5⟧ shop
        DB_HOST=⟦db2.praxis-oezdemir.example⟧
        machine ⟦ftp.bakkerij.example⟧ login
        ⟦172.20.4.10⟧	erp-old
        on ⟦build-7.kestrel.internal⟧ now
        \\⟦nas-despacho⟧\expedientes
    """,
    "URL": """
        at ⟦https://wiki.kestrel.internal/page⟧ now
        at ⟦http://jenkins.corp:8080/job⟧ now
        at ⟦https://aigaio-lab.example/~svlaho/fw/⟧ now
    """,
    "PERSON": """
        (автор: ⟦Т. Ю. Берестова⟧, вн. 4418)
        when 20771 then '⟦Кузовлев Г. П.⟧'
        ADMIN_NAME="⟦Ruprecht Tarogipa⟧"
        ADMIN_NAME="[36m⟦Ruprecht Tarogipa⟧[0m"
        auf das Konto, Kontoinhaberin ⟦Irmela Quandtmeier⟧.
        INSERT INTO staff (id, name, email) VALUES (1, '⟦Ada Winter⟧', NULL)
        Dear ⟦Nele⟧, thank you
        Hi ⟦Tom⟧,⏎I am late
        Liebe Frau ⟦Lindner⟧,
        Sehr geehrter Herr Dr. ⟦Sattler⟧,
        Bonjour ⟦Claire⟧, merci
        Hola ⟦Pablo⟧, gracias
        Estimada Sra. ⟦Ruiz⟧:
        Best regards,⏎⟦Nele Lindner⟧
        Viele Grüße⏎⟦Anna⟧
        Cordialement,⏎⟦Jean-Baptiste Le Gall⟧
        Saludos,⏎⟦Candela Risueño⟧
        thanks⏎⏎⟦jess haldane⟧⏎
        then Dr. ⟦Lindner⟧ came
        then Mrs ⟦Webb⟧ came
        then Prof. Dr. ⟦Achim von Rautenfeld⟧ came
        dear mr ⟦featherstonehaugh⟧,
        my husband ⟦tom⟧ has asthma
        my daughter ⟦Nele⟧ is late
        my boss, ⟦Emil Sattler⟧, said
        meine Frau ⟦Anna⟧ ist da
        mi hermano ⟦Pablo⟧ vive
        ma sœur ⟦Claire⟧ habite
        My name is ⟦Emil R. Sattler⟧ and
        my name is ⟦greta hollweg⟧. My
        Me llamo ⟦Candela Risueño⟧, y
        Je m'appelle ⟦Claire Dubosc⟧ et
        Ich heiße ⟦Annegret Lüdtke⟧ und
        I'm ⟦Nele Lindner⟧ and
        a lady named ⟦siobhan⟧ said
        ask for ⟦Tom Haldane⟧)
        "full_name": "⟦Nele Lindner⟧"
        "firstName": "⟦Annegret⟧"
        "lastName": "⟦Lüdtke-Wahl⟧"
        imie: ⟦Zofia⟧
        nazwisko: ⟦Grzegorczyk⟧
        name: '⟦Ñáñez Quiroga, Belén⟧'
        name = "⟦Eleni Karagiannopoulou⟧"
        {\\"name\\":\\"⟦Chukwuemeka Adebowale⟧\\"}
        - nom: ⟦Aurélie Quemeneur⟧
        <Nachname>⟦Lindner⟧</Nachname>
        holder="⟦Lim Swee Hock⟧"
        "customer": "⟦Ngozi Adebowale⟧"
        owner: ⟦Ravi Venkataraman⟧
        From: ⟦Nele Lindner⟧ <nlind>
        ⟦Benedikt Osterloh⟧ <b@kompost.example>
        Signed-off-by: ⟦Benedikt Osterloh⟧ <b>
        Reviewed-by: ⟦Ludivine P.⟧ <l>
        BEGIN:VCARD⏎FN:⟦Corina Ammann⟧⏎
        姓名：⟦王小明⟧
        氏名：⟦佐藤花子⟧
        이름: ⟦김철수⟧
        имя: ⟦Геннадий⟧
        PHONE: 919-256-2873 (⟦JESSICA⟧)
        📞⟦Mira Holzapfel⟧📧
        Frau ⟦Holzapfels⟧ Akte liegt
        ⟦山田太郎⟧さんと
        ⟦田中⟧様、お世話に
        ⟦鈴木⟧と申します
        ⟦佐藤健一⟧は昨日、⟦桐谷慎之介⟧と
        担当は⟦佐々木 美穂⟧です
        ⟦王⟧先生说
        我叫⟦张伟⟧，
        ⟦김철수⟧ 씨가
        제 이름은 ⟦박지민⟧입니다
        Позвоните ⟦Ивану Петровичу Сидорову⟧ по
        это ⟦Сидорова Анна Петровна⟧.
        Господин ⟦Иванов⟧ был
        пані ⟦Олена Коваленко⟧ була
        السيد ⟦أحمد العلي⟧
        ד"ר ⟦כהן⟧
        श्री ⟦राजेश कुमार⟧
        คุณ⟦สมชาย ใจดี⟧
        给房东⟦欧阳绍棠⟧先生写信
        我的室友⟦蔺若溪⟧周四在家
        和同事⟦老樊⟧吵过架
        把包裹给了楼下的⟦邬⟧师傅
        её сын ⟦Ярик⟧ шумит
        вчера ⟦Лариса Вощинская⟧, бухгалтер
        от ⟦Тимура Гарифова⟧ пришло
        ответчик ⟦Шибаев Геннадий Павлович⟧.
        Ο άντρας μου, ο ⟦Κωστής⟧ λέει
        زوجتي ⟦سلمى⟧.
        אשתי ⟦רונית⟧ אמרה
        Mrs. ⟦Castle⟧ holds the key
        told Ms ⟦Prior⟧ that
        collected by grandad ⟦Anton⟧, then
        proxy to son ⟦Anton⟧, who
        my wife \\textbf{⟦Grace⟧} suffers
        clerk ⟦Rowan Tree⟧. Then
        notary ⟦Urs Zumstein⟧, 031 555 01 77
        ⟦Oskar⟧'s mum asks
        Host (me, ⟦Wiebke⟧): The box
        carer ⟦Grace⟧ 07700 900 129
        Hiya, it's ⟦Grace⟧ from number forty
        \\name{⟦Bartholomew⟧}{⟦Holzapfel-Ey⟧}
        her first name's ⟦Mireille⟧, by the way
    """,
    "CASE_NUMBER": """
        my order ⟦HK-77310⟧ is late
        the facture ⟦F-2024-0318⟧ of May
        pedido ⟦7719-MX-04⟧ no llega
        her insurance is ⟦KL-4410-88213-D⟧.
        hospital no. ⟦QX 551-0278⟧ of hers
    """,
}

PLAIN = r"""
As a shopper I want to create user stories, then create role based access and alter user settings
grant access to the public schema, drop user table, revoke consent from the app
GRANT SELECT ON orders TO reporting;
a grant from the foundation to study bees
sections "8.2.4.44 Options", Upgraded from 2.7.2.2 to 2.7.2.3, chapter 2.4.1.3, firmware 1.0.2.36
the example address is aa:bb:cc:dd:ee:ff or 00:00:5e:00:53:af
Pi is 3.14159 26535 89793 23846 26433 83279 50288
open at 0800 0900 1000 1100
'password' => 'required|min:8|confirmed',
b'\\x1f\\x8b\\x08' and "\\server\share"
Liebe Gäste, willkommen
Gentile Cliente, la informiamo
Beste buren, het feest begint
how do I change my username on reddit?
DB_USER=config.user
It is used to handle XML-RPC requests, HWND = HANDLE, SC_HANDLE = HANDLE
plate 12 of the book, the plate is hot, placa de Petri 3, a dinner plate 24 cm
Mozart was born in Salzburg on 27 January 1756
Artikel-Nr. 774120 und Bestell-Nr. 44182, Seite-Nr. 1204
PAN: the pan is hot, operation OP 1234
The username is required, the login is broken, the user id is unique; login with google2 or SSO
username: string; login: function() {}; username = request.form; the handle is closed
git@hf.co:meta/llama, git@git.sr.ht:~x/y, redis://:$PW@eu1.upstash.io:6379
git clone https://github.com/psf/requests.git && ssh git@github.com
127.0.0.1 localhost
client HTTP-2024, order ABC-12, policy RFC-791, contract v2-1234
the order A-4 paper; order 66 was executed; invoice INV-001
村上春樹の代表作、野村證券、前田建設、橋本市、中山道、内田家について
田中社会主义 山田町 高橋です 佐藤錦を買う
客户方应该先付款，朋友圈里的同事常说
Фильм "Иван Грозный" снял Эйзенштейн; Анна Каренина умерла
the <address> of a contract</address>, an ADR: see adr.md; it says so;
ping <address> -c 4 <count>
ssh user@<address> port 22 <enter>
Wi-Fi: 802.11ac / Bluetooth 5.0
WLAN: ja / nein, Wi-Fi: free / unlimited
{"pin": "GPIO17", "mode": "out"}
INSERT INTO users (id, email) VALUES (1, 'alice@example.com'), (2, 'bob@example.com')
Прелюдия И. С. Баха и реформа П. А. Столыпина
see https://docs.python.org/3/library/asyncio.html
see https://react.dev/link/warning-keys.
at https://maven.pkg.github.com/example-org/toolbox
at http://localhost:3000 and http://127.0.0.1:8000/healthz
fetch(`https://api.example.com/v1/items/${id}`)
LOG.info("x"); logger.info(y)
import "github.com/google/uuid"
go get github.com/prometheus/client_golang
git clone https://github.com/org/repo.git
git clone git@github.com:org/repo.git
see https://github.com/features and https://github.com/pricing
see https://github.com/torvalds/linux/blob/master/README
https://x.com/search?q=cats
https://www.instagram.com/p/abc
open main.py and app.js
pip install numpy==1.26.4
trust 192.168.0.0/16 and 10.0.0.0/8
listen on 0.0.0.0:80 and ::1
dns 8.8.8.8 and 1.1.1.1
version 4.18.2.1 is out
upgrade to 3.2.1.0 now
Chrome/121.0.6167.85
std::vector<int> v; dead::beef b; a::b::c
threading.local() and self.local
MAC 00:00:00:00:00:00 or ff:ff:ff:ff:ff:ff
id 11111111-2222-3333-4444-555555555555
git show 9fceb02d0ae598e95dc970b74767f19372d61af8
array.sort() sort in place AND return
5 lines this way
route Flask requests via Twitter
200 15 and 404 2903 and 429 77
"GET /healthz HTTP/1.1" 200 15
M1 8GB of memory
write to user@example.com or you@example.org
name@domain.com is a placeholder
noreply@github.com sent it
@property
@Override
@app.route("/x")
@media (max-width: 600px) {
import x from "@types/node"
npm install @angular/core
@Component({ selector: "x" })
 * @param user the user
SELECT @user_id = 3
<button @click="go">
uses: actions/checkout@v4
image: nginx@sha256:abc
cd /home/user/project
cd /home/ubuntu && ls
path="/home/dashboard"
/Users/Shared/x
C:\Users\Public\Documents
user: User
user: string
user: admin
user=admin
username=postgres
username: str
"username": "admin"
"user": "user"
const user = await getUser();
user = User.objects.get(id=1)
user = request.user
username = request.form["username"]
def login(username, password):
connect(user=user, host=host)
connect(user=db_user, host=db_host)
user=${USER}
USER=$USER
DB_USER=postgres
login: required
login: true
docker run -u root img
pip install -U pip
git push -u origin main
uid=0(root) gid=0(root)
postgres://postgres@localhost/db
the user is logged in
User interface design
released on 12 May 1984
created: 2024-05-12
updated_at: "2024-05-12"
due date: 12/05/2024
Mozart was born on 27 January 1756.
Albert Einstein was born on 14 March 1879
died on 5 May 1984
born to run
/* 127.0.0.1 */
Dear Sir or Madam,
Dear Hiring Manager,
Dear Customer,
Hi all,
Hi there!
Hello World!
Hello, World
Hallo Welt!
Hallo zusammen,
Sehr geehrte Damen und Herren,
Bonjour tout le monde
Hola mundo
Best regards,⏎The Team
Thanks,⏎Team
Thanks!⏎The code works now.
Best⏎practices are listed
my husband has asthma
my boss wants a report
my friend told me
my son and my daughter
My name is on the list
my name is not important
I'm Not Sure
I am using Visual Studio
This is New York
This is Machine Learning
it's Open Source
a function called Foo
a library called React
name: Build And Test
name: build
"name": "Order Service"
"name": "my-package"
"name": "New York"
"name": "string"
"name": "Los Angeles"
name: CI
name = "linkcheck"
class_name: "BaseService"
file_name: "Report Final.pdf"
hostname: localhost
first_name: str
first_name: string;
"firstName": "First name"
"lastName": "Last"
firstName = user.firstName
author: unknown
owner: root
customer: Customer
from: "noreply"
to: Berlin
host: api.github.com
host: smtp.gmail.com
host = "localhost"
server: nginx
endpoint: https://api.example.com
domain: example.com
Support Team <support@example.com>
GitHub <noreply@github.com>
address: 0x7ffe
"address": "127.0.0.1:8080"
address = "0x8e21f0c94b7735ad60129ce4fb3d8a7716c05e92"
street: string
the postcode is missing
zip files and tar.gz
zip(a, b)
2024 AD was a leap year
Dr Pepper is a drink
Mr. or Mrs.
the Prof said so
Ms Excel
Fr, Sa, So
M. R. James wrote it
list<Person> persons
SELECT name FROM users
total 1234567890123
("The Matrix", "1999-03-31", "Warner"),
invoice;1984-03-02;12.50
("Ada Lovelace", "1815-12-10"),
released: "1984-03-02"
What are the last four digits of 7^2023?
sin 0.523599 and tan 1.047198
Compare 52.520008, 13.404954 and 48.856613, 2.352222
Convert 40°26'46"N 79°58'56"W to decimal degrees
A passport is 125 x 88 mm, the card 85.60 x 53.98
order by number limit 10000
the order of 12345 items
user id is an integer of 64 bits
token contract 0xdAC17F958D2ee523a2206206994597C13D831ec7
bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdx
/// <reference types="vite/client" />
///foo.bar.baz.qux
ABCDEFGH+IJ and 23456789+10
Expires 09/27 at noon
GET /users/42 and /items/48213
SIN 30 = 0.5
Einstein was born on 14 March 1879 in Ulm
ICD-10 is a list of codes
お客様と患者さん
고객님 안녕하세요. 선생님
什么是先生
他是我的老师
Кто такой Александр Сергеевич Пушкин?
السيد الرئيس
list of 3 (Optional)
Miss World, Mr. President and Dr Pepper
reference 12, ref [3], Reference: Smith 2019, ref 2024
policy 2024-2025, members 100000, chart 12, ticket 40
the reservation of Gate B4471X is not a locator
commit A12 BCDE and P38 1234
The White House, Carnegie Hall and Animal Farm
she lives in a house of cards, 3 miles up the hill
2 Jurassic Park films, 12 Angry Men
Mother Earth and Father Christmas
Dr V. M (1990) F 12 and M 3/4
b. 4 and c. 5, add. b. 2
улица Пушкина известна, Красная площадь в 1812 году
شارع الصفا قديم
ending 2024 with style
Cad drawings No 5
SOA serial 2026112501; TTL 604800 1800
"""


def list_found() -> list[tuple[str, str]]:
    return [
        (type_, line.strip())
        for type_, lines in FOUND.items()
        for line in lines.strip("\n").splitlines()
        if line.strip()
    ]


@pytest.mark.parametrize(("type_", "line"), list_found())
def test_a_part_with_evidence_is_found(type_: str, line: str) -> None:
    text, parts = read_marked(line)
    found = {(text[s.start : s.end]) for s in POLICY.find(text) if s.type == type_}
    assert found == set(parts)


@pytest.mark.parametrize("line", PLAIN.strip("\n").splitlines())
def test_what_has_the_form_alone_is_left(line: str) -> None:
    text, _ = read_marked(line)
    assert [(text[s.start : s.end], s.type) for s in POLICY.find(text)] == []


@pytest.mark.parametrize(
    ("text", "addresses"),
    [
        ("我的邮箱是zhang.wei@kestrel.cn请联系我", ["zhang.wei@kestrel.cn"]),
        ("メールはhanako@kestrel.jpです。", ["hanako@kestrel.jp"]),
        ("이메일은 minsu@kestrel.kr입니다.", ["minsu@kestrel.kr"]),
        ("抄送wang@kestrel.com.cn和li@kestrel.cn", ["wang@kestrel.com.cn", "li@kestrel.cn"]),
        (
            "An jürgen.möller@kestrel.de, mira@müller.de",
            ["jürgen.möller@kestrel.de", "mira@müller.de"],
        ),
        ("请发到张伟@例子.公司", ["请发到张伟@例子.公司"]),  # where it begins cannot be told
    ],
)
def test_an_address_ends_where_a_sentence_without_blanks_goes_on(
    text: str, addresses: list[str]
) -> None:
    spans = PatternPolicy.shipped().find(text)
    found = {text[span.start : span.end] for span in spans if span.type == "EMAIL_ADDRESS"}
    assert found == {*addresses}


STRANGERS = ("Torvald Ostrander", "Quillon Baxendale", "Zephyrine Castellane", "Tane Ruatapu")
DEALT_WITH = (
    "Please send it to {}.",
    "Please forward the contract to {}, 17 Linden Road.",
    "Write a birthday poem for {}.",
    "{} was late again today.",
    "Yesterday {} called about the keys.",
    "Can you check whether {} has paid?",
    "The contract with {} ends in May.",
    "Ask {} about the keys.",
    "{} and I disagree about the budget.",
)


@pytest.mark.parametrize("frame", DEALT_WITH)
def test_who_is_dealt_with_is_a_person_whatever_the_name(frame: str) -> None:
    for name in STRANGERS:
        text = frame.format(name)
        spans = PatternPolicy.shipped().find(text)
        assert name in {text[span.start : span.end] for span in spans}, text


# Names that are words, titles in small letters and behind a name, and numbers with other verbs.
TOLD = (
    "Please send it to ⟦Caspian Vale⟧. Forward the lease to ⟦Autumn Fields⟧ by noon.",
    "Also tell ⟦Chase⟧ thanks, remind ⟦Hunter⟧ to ring, and text ⟦Autumn⟧ the address.",
    "She can cover for ⟦June⟧ while ⟦May⟧ is on leave. ⟦April⟧ has resigned.",
    "La signora ⟦Bevilacqua⟧ e il signor ⟦Mastroianni⟧; a senhora ⟦Guimarães⟧ ligou.",
    "Kontaktujte paní ⟦Novákovou⟧.",
    "⟦Szabó⟧ úr és ⟦Kovács⟧ asszony; ⟦Tolga⟧ Bey.",
    "Moje rodné číslo je ⟦885512/1234⟧",
    "mon numéro de sécu est ⟦2 85 05 78 006 084 36⟧",
    "bytem ⟦Polní 4⟧, trvalé bydliště ⟦Na Stráni 18⟧",
    "My handle on Instagram is @⟦mellow_juniper_84⟧",
    "El señor ⟦Echeverría⟧ llamó al ⟦655 123 987⟧",
)


@pytest.mark.parametrize("line", TOLD)
def test_what_a_sentence_tells_of_somebody_is_hidden(line: str) -> None:
    text, parts = read_marked(line)
    spans = get_mechanism("selective", bundled_table(), profile="people").spans(text) or ()
    found = [text[span.start : span.end] for span in spans]
    assert all(any(part in other for other in found) for part in parts), found


@pytest.mark.parametrize(
    "text",
    [
        "Send it to Kafka Connect, ask Perplexity Pro, and forward it to Rose Garden.",
        "Insurance to cover for June 2025, or to stand in for April and May.",
        "Nossa Senhora Aparecida. Elnök úr, tisztelt Ház! Doktor Bey geldi.",
        "Send it to Customer Support and ask Human Resources whether Payroll Services has paid.",
        "Write a poem for Mother Earth. The contract with Internal Audit ends.",
        "Airservices Australia said so, and the Vizrunner Quixotic called for it.",
        "Tell Visual Studio to format; call Math.Floor, and give NumPy Arange a step.",
        "She met Kestrel-Zyngo/Blatt, signed by Foo_Bar Bazqux=1.",
    ],
)
def test_what_is_no_name_is_dealt_with_as_before(text: str) -> None:
    spans = PatternPolicy.shipped().find(text)
    assert [text[s.start : s.end] for s in spans if s.type == "PERSON"] == []


@pytest.mark.parametrize("head", ["", "Owners\n", "reviewers:\n", "authors: "])
@pytest.mark.parametrize("between", ["\n", "\r\n", "\t"])
def test_names_on_lines_of_a_string_are_names_of_their_own(head: str, between: str) -> None:
    """Folding makes blanks of an escaped line break; a stand-in over it would break the JSON."""
    names = ["Anna Berg", "Tom Kranz", "Siobhan Farquhar"]
    value = f"{head}{between.join(names)} <siobhan@kestrel.example>{between}"
    for text in (json.dumps({"out": value}), json.dumps({"out": json.dumps({"in": value})})):
        spans = get_mechanism("selective", bundled_table(), profile="people").spans(text)
        found = [text[span.start : span.end] for span in spans or ()]
        assert not [part for part in found if "\\" in part]
        assert {*names} <= {*found}
        assert "Owners" not in found


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("brooks told me he is gay", ["brooks"]),
        ("my teacher wells told me that parsons is ill", ["wells", "parsons"]),
        ("mr banks says he is ill", ["banks"]),
        ("woods owes me money", ["woods"]),
    ],
)
def test_a_surname_in_small_letters_may_be_a_plural(text: str, names: list[str]) -> None:
    mechanism = get_mechanism("selective", bundled_table(), profile="people")
    found = [text[span.start : span.end] for span in mechanism.spans(text)]
    assert found == names


@pytest.mark.parametrize(
    ("text", "firms"),
    [
        ("Pargeter Roofing sent the bill.", ["Pargeter Roofing"]),
        ("Hotel Alvorada is booked, and so is Praxis Wilgenhof.", ["Alvorada", "Wilgenhof"]),
        ("Muebles Torrecárdenas are late.", ["Muebles Torrecárdenas"]),
        ("Project Kestrel starts.", ["Kestrel"]),
        ("The Python Data course has Riemann Data, Bayesian Design and Dirac Systems.", []),
        ("Casimir Energy between two plates, Gaussian Systems, Fourier Capital", []),
        ("Python Solutions, Bayesian Robotics", []),
        ("Project Loom, Project Valhalla and Operación Triunfo", []),
    ],
)
def test_a_trade_beside_what_is_well_known_makes_no_firm(text: str, firms: list[str]) -> None:
    mechanism = get_mechanism("selective", bundled_table(), profile="business")
    found = [text[span.start : span.end] for span in mechanism.spans(text)]
    assert len(found) == len(firms)
    assert all(firm in name for firm, name in zip(firms, found, strict=True)), found
