"""Find numbers that words say to be somebody's: of an account, a customer, an order, a document, a
patient, a card; and the coordinates of a home, and addresses of wallets.

A number alone is no evidence here: the label is. A check digit is not asked for, since people
mistype, and since a number of another country than those we know is as private.
"""

from __future__ import annotations

import re

from perturb.selective.patterns.checks import is_wallet
from perturb.selective.patterns.labels import LABELS, spell_key
from perturb.selective.patterns.settings import is_placeholder
from perturb.selective.patterns.shape import (
    all_clues,
    any_figure,
    any_listed,
    any_match,
    any_of,
    any_string,
    beyond_latin,
    digits,
    least_digits,
    shape,
)

__all__ = ["DOCUMENT_WORDS", "LABELLED"]

_DOCUMENTS = """
    passport passports vin reisepass reisepassnummer passeport pasaporte passaporto paspoort
    paspoortnummer
    passnummer passnr personalausweis personalausweisnummer ausweis ausweisnummer ausweisnr
    identity_card id_card national_id national_identity carte_d'identité documento_de_identidad
    carta_d'identità national_insurance ssn itin social_security
    sozialversicherungsnummer svnr sv-nummer sozialversicherung rentenversicherungsnummer
    steuer-id steuer-idnr steueridentifikationsnummer steuernummer steuernr
    identifikationsnummer idnr tax_id tax_identification tax_file cpf dni curp cuil cuit cédula
    cedula aadhaar aadhar uidai voter_id hkid nric mykad ahv-nummer ahv-nr personnummer personnr
    fødselsnummer fodselsnummer cpr-nummer henkilötunnus hetu isikukood asmens_kodas personas_kods
    rodné_číslo rč pesel oib jmbg emšo егн tckn tc_kimlik kimlik kimlik_numaram kimlik_numaramız
    kimlik_numarası kimlik_numaranız инн снилс паспорт рнокпп
    bsn burgerservicenummer codice_fiscale niss insz nhs mrn medical_record health_card
    health_insurance insurance_number medicare medicaid krankenversichertennummer kvnr
    versichertennummer krankenkassennummer numéro_de_sécurité_sociale sécu
    seguridad_social driver's_license driver’s_license drivers_license driver_license
    driving_licence driving_license driver's_licence führerschein führerscheinnummer
    permis_de_conduire licencia_de_conducir visa_number residence_permit
    aufenthaltstitel emirates_id iqama 身份证 身份证号 身份证号码 居民身份证 マイナンバー
    個人番号 주민등록번호 주민번호 nif nie tc_no 여권번호 护照 护照号 旅券番号
    kennitala taj taj_szám іпн dowód dowodu dowód_osobisty nr_dowodu ci_seria carte_de_identitate
    numéro_fiscal nº_fiscal contribuinte passaporte código_fiscal občanský_průkaz
    občanského_průkazu szig személyi personnel_id a-number alien_number i-94 رقم_الهوية
    الرقم_القومي کد_ملی
    เลขบัตรประชาชน rentenversicherung rentenversicherungs-nr imei iccid imsi orcid microchip
    microchipped κωδικός_αμκα αφμ αμκα αδτ снилс полис_омс полис
"""
# Each word of them, which names nobody where it stands beside a number.
DOCUMENT_WORDS = frozenset(_DOCUMENTS.replace("_", " ").split())
# In small letters these are words of another kind: sin, tin.
_ACRONYMS = """
    NIN NINO SVNR TIN TFN RG NIE NIF RFC RUT CC NIK KTP AHV AVS OASI CPR EGN CNP AMKA AFM SIN KVNR
    UTR OLN TAJ OP CNH GMC NMC HCPC SRA GDC GPhC LANR BSNR KV-Nr UPN UCI URN BRP PPSN IRD EIN MPAN
    MPRN MEID PNR RRN VIN FIN DBS CHI EHIC DL CRN UIN ULN NPI DEA NIR NISS ABN ACN S/N SN
"""
# Beside the number alone, without a word for one: `booking 4471.882.093`.
_FILES = """
    policy membership member booking reservation confirmation waybill tracking e-ticket
    eticket railcard voucher chart accession badge employee personnel candidate licence license
    registration crime_reference patient insured meter account customer student payroll
    receipt lab_number hospital_no hosp_no medical_aid creditor_id zoom_id meeting_id case_no
    startnummer medlemsnr application ref reference personeelsnummer dossiernummer volgnummer
    frequent_flyer nr_ewid processo emp. emp cust. cust ff
"""
_LOCATORS = """
    confirmation booking reservation pnr record_locator locator localizador buchungscode
    buchungsnummer code_de_réservation codice_prenotazione collection_ref collection_reference
    booking_ref booking_reference repayment_code share_code conf_code conf._code conf_no conf._no
"""
_PLATES = """
    kennzeichen kfz-kennzeichen autokennzeichen license_plate licence_plate number_plate
    registration_plate plate_number plaque_d'immatriculation immatriculation matrícula targa
    kenteken plate car_reg vehicle_reg car_registration plaka placa kontrollschild nummernschild
    immatriculée immatriculé matriculado matriculada targata targato
    spz nr_rej numer_rejestracyjny registreringsnummer reg.nr regnr rego госномер reg
"""
_OWNERS = """
    account acct customer client member membership policy contract order invoice booking
    reservation confirmation reference tracking claim employee staff student matriculation patient
    loyalty card routing meter licence license subscription voucher insurance subscriber
    frequent_flyer pension payroll taxpayer user bank mortgage loan prescription ticket
    cust. cust emp. emp
"""
_NUMBERS = """
    kundennummer kundennr kunden-nr kontonummer kontonr konto-nr vertragsnummer vertragsnr
    bestellnummer bestellnr auftragsnummer rechnungsnummer rechnungsnr versicherungsnummer
    versicherungsscheinnummer policennummer schadennummer mitgliedsnummer matrikelnummer
    personalnummer patientennummer kartennummer buchungsnummer vorgangsnummer sendungsnummer
    klantnummer rekeningnummer bestelnummer polisnummer lidmaatschapsnummer factuurnummer
    kundnummer medlemsnummer ordrenummer polisnr klantnr lidnr lidnummer dossiernr rekeningnr
    verzekeringsnummer patiëntnummer mieternummer mieter-nr versichertennummer versicherten-nr
    fahrgestellnummer fahrgestell-nr vertragskonto zählernummer kassenzeichen
    vertrags-nr personal-nr pers.-nr pers.nr mitglieds-nr versicherungs-nr vers.-nr versicherten-nr
    patienten-nr matrikel-nr policen-nr schaden-nr karten-nr bankkonto matricule 계좌번호 银行账号
"""
_ROMANCE_NUMBERS = """
    compte client commande contrat dossier carte police facture allocataire adhérent assuré cuenta
    cliente pedido contrato póliza tarjeta expediente factura socio afiliado conto ordine
    contratto polizza carta pratica tessera fattura conta apólice fatura cartão klienta konta
    zamówienia umowy polisy karty
"""
_NUMBER_WORD = r"(?:no|nos|nr|number|numbers|nummer|num|numéro|número|numero|n\.?[º°]|№|#|id|code)"
_SAYS = r"(?:is|was|ist|lautet|war|est|es|é|è|jest|to|je|er|är|on|are)"
# Between a label and its number; at most one word for a number and one verb.
_LINK = (
    rf"\.?(?:[ \t]?(?:\((?:[^()\n]{{1,20}})\)))?(?:[ \t-]?\(?{_NUMBER_WORD}(?![^\W\d_])\.?)?"
    r"(?:[ \t](?:dele|dela|meu|minha|suo|mio|de él|de ella|von ihm|von ihr))?"
    rf"(?:[ \t]{_SAYS}(?!\w))?"
    r"[\"'`]?[ \t]{0,2}[:=：#>]?[ \t]{0,2}[\"'`*]{0,2}"
)
_VALUE = (
    r"(?P<part>(?-i:[A-Z]{1,4}[ -]?)?\d[\dA-Z]{0,20}(?:[ ./-](?=[A-Z]{0,3}\d)[\dA-Z]{1,20}){0,6}"
    r"(?:[ -]?(?-i:[A-Z]))?(?:\((?-i:[\dA-Z])\))?)(?![\w%€$£]|[./,-]\d|\(\))"
)
# Of documents with letters anywhere in their numbers: X4RTBPFW4, MORGA657054SM9IJ.
_MIXED = r"(?P<part>(?-i:(?=[A-Z]{0,6}\d)(?=\d{0,6}[A-Z])[A-Z\d]{7,20}))(?![\w(-])"
# As _VALUE, also with letters before a sign: WE-44/12-X, DL-MTR-88 204 471.
_FILE_VALUE = (
    r"(?P<part>(?-i:(?:[A-Z]{1,4}[ /-]){0,2}[A-Z]{0,4}\d[\dA-Z]{0,20})"
    r"(?:[ ./-](?=[A-Z]{0,3}\d)(?-i:[\dA-Z]{1,20})){0,6}(?:-(?-i:[A-Z])(?!\w))?)"
    r"(?![\w%€$£]|[./,-]\d|\(\))"
)
_VALUE_START = r"(?<=[ \t:=：#>\"'`*.是は号证證码号番\)])"


def _is_number(least: int, text: str) -> bool:
    return len(digits(text)) >= least and not is_placeholder(text) and not _DATE.fullmatch(text)


def _is_plate(text: str) -> bool:
    """Tell if a value has the length of a number plate, and letters and figures."""
    letters = any(map(str.isalpha, text))
    return letters and 4 <= sum(map(str.isalnum, text)) <= 9 and not is_placeholder(text)


def _is_document(text: str) -> bool:
    return _is_number(5, text)


def _locate_acronym(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of a number after its acronym; None for a standard of the internet, whose
    number has no letters as that of a Mexican taxpayer has: `RFC 10008`."""
    standard = match[0].startswith("RFC") and not any(map(str.isalpha, match["part"]))
    return None if standard else match.span("part")


def _is_mixed(text: str) -> bool:
    return _is_number(2, text)


def _is_account(text: str) -> bool:
    plain = "".join(map(str, digits(text)))
    return _is_number(5, text) and plain not in "1234567890123" and len(set(plain)) > 1


_DATE = re.compile(
    r"(?:19|20)\d\d[-./]\d\d?[-./]\d\d?|\d\d?[-./]\d\d?[-./](?:19|20)?\d\d|\d{1,2}:\d\d"
)


def _is_file(text: str) -> bool:
    """Tell if a value has figures enough for a number that nothing but a word beside it says to
    be one; a round number counts something."""
    if text.isdigit():
        return len(text) > 5 and not text.endswith("000") and _is_account(text)
    years = re.fullmatch(r"(?:19|20)\d\d[-/](?:19|20)?\d\d", text)
    return not years and _is_number(4 if any(map(str.isalpha, text)) else 6, text)


def _is_locator(text: str) -> bool:
    return any(map(str.isdigit, text)) and any(map(str.isalpha, text))


# In scripts without blanks, and beside a particle: マイナンバーは142754465165.
_GLUED = (
    r"(?:身份证(?:号码?)?|身分證(?:字號|號碼)?|护照(?:号码?)?|護照(?:號碼)?|(?:学籍|社保卡?|医保卡?|保单|订单|会员)号|工号|学号"
    r"|マイナンバー|(?:個人|旅券|パスポート|免許証|保険証|社員|会員|予約|学籍|口座|お客様)番号"
    r"|주민(?:등록)?번호|여권번호|운전면허번호|계좌번호|사번|학번|(?:회원|예약|고객)번호)"
)
_ELSEWHERE = (
    r"(?:आधार(?: संख्या| नंबर| कार्ड)?|पैन(?: नंबर| कार्ड)?|खाता(?: संख्या| नंबर)?|ת[\"״]ז"
    r"|תעודת זהות|מספר זהות|דרכון|رقم (?:الهوية|الإقامة|الجواز|جواز السفر|الحساب)"
    r"|الرقم القومي|جواز(?: ال)?سفر"
    r"|(?:Τ\.?Κ\.?|αριθμ(?:ός|ού)) διαβατηρίου|довідка №)"
)
# Of a British car since 2001: AB12 CDE; the figures are those of a year.
_BRITISH_PLATE = r"[A-HJ-PR-Y]{2}(?:0[2-9]|[12]\d|5[1-9]|6\d|7[0-6]) [A-HJ-PR-Z]{3}"

# -- cards ----------------------------------------------------------------------------------------
_CARD = re.compile(
    r"card|visa|master|amex|karte|carte|tarjeta|carta\b|cv[cv]2?\b|(?:\d{4}[ -]?){4}",
    re.IGNORECASE,
)


def _locate_expiry(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of a month and a year if a card is spoken of near by."""
    near = match.string[max(0, match.start() - 60) : match.end() + 40]
    return match.span("part") if _CARD.search(near) else None


def _locate_element(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of the number in an element by the element's name."""
    type_ = LABELS.get(spell_key(match["key"]))
    told = type_ in ("ACCOUNT_NUMBER", "NATIONAL_ID") and _is_number(4, match["part"])
    return match.span("part") if told else None


def _locate_passport(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of the names in a line of 30 characters or more."""
    return match.span("part") if len(match[0]) >= 30 else None


# -- places ---------------------------------------------------------------------------------------
_HOME = re.compile(
    r"\b(?:house|home|flat|apartment|cabin|farm|residence|stands|lives?|living|parked"
    r"|meet|located? (?:him|her|me|them)|i am at|i'm at|my (?:location|position|address)|address"
    r"|last seen|haus|wohnt|wohnung|zuhause|maison|habite|domicile|casa|vive)\b",
    re.IGNORECASE,
)


def _locate_home(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of coordinates if somebody's home or stay is spoken of before them."""
    near = match.string[max(0, match.start() - 120) : match.start()]
    return match.span("part") if _HOME.search(near.rpartition("\n\n")[2]) else None


_DEGREES = r"-?\d[\d.°'′\"″ deg]{4,28}[NSEWO]?"


# -- wallets --------------------------------------------------------------------------------------
_WALLET_WORDS = re.compile(
    r"wallet|payout|deposit|donat|my (?:eth|ethereum|btc|address)|metamask|ledger|send \S{1,20} to"
    r"|withdraw|cold storage",
    re.IGNORECASE,
)


def _locate_wallet(match: re.Match[str]) -> tuple[int, int] | None:
    near = match.string[max(0, match.start() - 60) : match.start()]
    return match.span() if _WALLET_WORDS.search(near) else None


_ENDS_LIST = (
    "ending_in ending_with ends_in ends_with endet_auf endend_auf se_terminant_par finissant_par"
    " terminada_en terminado_en termina_en che_termina_con"
)
_LAST_LIST = (
    "last_four last_4 last_three last_3 last_six last_6 letzten_vier letzte_vier letzten_4"
    " quatre_derniers últimos_cuatro últimos_4 ultime_quattro"
)
_ENDS, _LAST = any_of(_ENDS_LIST), any_of(_LAST_LIST)
_HOLDS = (
    r"(?:account|card|konto|karte|carte|compte|cuenta|tarjeta|visa|mastercard|amex|iban|phone|ssn)"
)

LABELLED = (
    shape(
        "NATIONAL_ID",
        rf"(?<![^\W_]){any_of(_DOCUMENTS)}(?![^\W\d_]){_LINK}{_VALUE_START}{_VALUE}",
        _is_document,
        case=False,
        clue=all_clues(least_digits(5), any_listed(_DOCUMENTS.replace("n°_sécu", "sécu"))),
        reach=40,
    ),
    shape(
        "NATIONAL_ID",
        rf"(?<![^\W_]){any_of(_DOCUMENTS)}(?![^\W\d_]){_LINK}{_VALUE_START}{_MIXED}",
        _is_mixed,
        case=False,
        clue=all_clues(least_digits(2), any_listed(_DOCUMENTS.replace("n°_sécu", "sécu"))),
        reach=40,
    ),
    shape(  # o NIF para o recibo é 245678910
        "NATIONAL_ID",
        r"(?<![^\W_])(?-i:NIF|NIE|DNI|CIF|CPF|BSN|NISS)(?: (?!é|es|is|è)[a-zà-ÿ]{1,12}){1,5}"
        r" (?:é|es|is|è) (?P<part>(?-i:[XYZ]-?)?\d[\d .-]{5,12}\d(?:-?(?-i:[A-Z]))?)"
        r"(?!\w|[.,]\d)",
        lambda text: _is_number(7, text),
        case=False,
        clue=all_clues(least_digits(7), any_listed("NIF NIE DNI CIF CPF BSN NISS")),
        reach=90,
    ),
    shape(  # podem ligar para o 912 555 083 depois das seis
        "PHONE_NUMBER",
        r"(?<!\w)(?:ligar|ligue|liguem|liga-me|telefonar|appelez(?:-moi)?|rappelez(?:-moi)?|joindre"
        r"|llamar|llámame|llámeme|llamen|bizum|chiamare|chiamami|chiamate(?:mi)?|bellen|anrufen"
        r"|erreichbar|whatsapp)(?: [a-zà-ÿ]{1,12}){0,3} (?:para o|para|pelo|no|au|al|a"
        r"|aan|naar|op|sul|unter|auf) (?P<part>(?!\d{3}[ .-]?000)\d{3}[ .-]?\d{3}[ .-]?\d{3})"
        r"(?![\w]|[.,/-]\d| ?[€%])",
        case=False,
        clue=all_clues(least_digits(9), any_figure(r"\d{3}[ .-]?\d{3}[ .-]?\d{3}")),
        reach=80,
    ),
    shape(  # a British driving licence: HOLZA 802149 M99AB 12
        "NATIONAL_ID",
        r"(?<!\w)(?P<part>[A-Z][A-Z9]{4} ?\d{6} ?[A-Z][A-Z9]\d[A-Z]{2}(?: ?\d\d)?)(?!\w)",
        clue=any_figure(r"\d{6} ?[A-Z]"),
        reach=10,
    ),
    shape(  # an Indian tax number, beside its name
        "NATIONAL_ID",
        r"(?<!\w)PAN(?: card)?(?: no\.?| number)?(?: is|:)? {0,2}"
        r"(?P<part>[A-Z]{3}[ABCFGHLJPT][A-Z]\d{4}[A-Z])(?!\w)",
        clue=any_string("pan"),
        reach=2,
    ),
    shape(  # 银行卡号5425784917964848
        "CREDIT_CARD",
        r"(?:银行卡号?|信用卡号?|カード番号)[:：是は ]{0,2}"
        r"(?P<part>\d(?:[ -]?\d){11,18})(?!\d)",
        clue=any_string("卡", "カード番号"),
        reach=4,
    ),
    shape(  # an Italian tax code, by its form
        "NATIONAL_ID",
        r"(?<!\w)[A-Z]{6}\d\d[A-EHLMPRST]\d\d[A-Z]\d{3}[A-Z](?!\w)",
        clue=any_figure(r"[A-Z]{6}\d\d[A-Z]"),
        reach=4,
    ),
    shape(  # Kennzeichen B-MH 4471, reg. no. AB12 CDE
        "ACCOUNT_NUMBER",
        rf"(?<![^\W_])(?:{any_of(_PLATES)})(?:[ -]{_NUMBER_WORD}(?![^\W\d_])\.?)?"
        rf"(?: {_SAYS}(?!\w))?[:.]?[ (\"'`]{{1,3}}(?P<part>(?-i:(?=[A-ZÄÖÜ\d -]{{0,9}}\d)"
        r"[A-ZÄÖÜ\d]{1,8}(?:[ -][A-ZÄÖÜ\d]{1,7}){0,3}))(?![\w-])",
        _is_plate,
        case=False,
        clue=all_clues(least_digits(1), any_listed(_PLATES)),
        reach=24,
    ),
    shape(
        "NATIONAL_ID",
        rf"(?<![^\W_]){any_of(_ACRONYMS)}(?![^\W\d_]){_LINK}{_VALUE_START}{_VALUE}",
        _is_document,
        clue=all_clues(least_digits(5), any_listed(_ACRONYMS)),
        locate=_locate_acronym,
        reach=4,
    ),
    shape(
        "ACCOUNT_NUMBER",
        rf"(?<![^\W_]){any_of(_OWNERS)} {_NUMBER_WORD}(?![^\W\d_])\.?{_LINK}"
        rf"{_VALUE_START}{_VALUE}",
        _is_account,
        case=False,
        clue=all_clues(least_digits(5), any_listed(_OWNERS)),
        reach=16,
    ),
    shape(
        "ACCOUNT_NUMBER",
        rf"(?<![^\W_])(?:{any_of(_NUMBERS)}|(?:numéro|n\.?[°º]\.?|no|número|núm\.?|numero|numer|réf\.?)"
        rf" (?:d[eu] |di |da |do |del |de la )?{any_of(_ROMANCE_NUMBERS)}"
        rf"|{any_of(_ROMANCE_NUMBERS)} (?:n\.?[°º]|núm\.?|nº))(?![^\W\d_])"
        rf"{_LINK}{_VALUE_START}{_VALUE}",
        _is_account,
        case=False,
        clue=all_clues(least_digits(5), any_listed(_NUMBERS, _ROMANCE_NUMBERS)),
        reach=32,
    ),
    shape(  # sort code 20-45-77 account 43817720, routing 021000089
        "ACCOUNT_NUMBER",
        r"(?<!\w)(?:(?:sort[ -]?code|sortcode|bsb)(?: is| no\.?| number)?[: ]{1,2}"
        r"(?P<part>\d\d[- ]?\d\d[- ]?\d\d|\d{3}-\d{3})"
        r"|(?:routing|aba|acct?|a/c|account|konto)(?: is| no\.?| nr\.?| number)?[:#. ]{1,2}"
        r"(?P<own>\d{8,12}|\d{4}\.\d\d\.\d{5}))(?![\w-]|[.,]\d)",
        lambda text: not text.isdigit() or _is_account(text),  # 20-45-77 is no date here
        case=False,
        clue=all_clues(
            least_digits(6),
            any_string("sort", "bsb", "routing", "aba", "acc", "a/c", "konto"),
        ),
        locate=lambda match: match.span("own" if match["own"] else "part"),
        reach=12,
    ),
    shape(  # policy HOM/44718/2093, licence LEG-447182
        "ACCOUNT_NUMBER",
        rf"(?<![^\W_])(?:{any_of(_FILES)})(?![^\W\d_]){_LINK}{_VALUE_START}{_FILE_VALUE}",
        _is_file,
        case=False,
        clue=all_clues(least_digits(4), any_listed(_FILES)),
        reach=24,
    ),
    shape(  # confirmation RX7QLM
        "ACCOUNT_NUMBER",
        rf"(?<![^\W_]){any_of(_LOCATORS)}(?![^\W\d_]){_LINK}{_VALUE_START}"
        r"(?P<part>(?-i:[A-Z\d]{5,8}))(?![\w-])",
        _is_locator,
        case=False,
        clue=all_clues(least_digits(1), any_listed(_LOCATORS)),
        reach=30,
    ),
    shape(  # マイナンバーは142754465165
        "NATIONAL_ID",
        rf"{_GLUED}[是为為はがの는은이가]?[ :：]{{0,3}}"
        r"(?P<part>(?:[A-Z]{1,4}-?)?\d[\dA-Z]{2,20}(?:[ -]\d{1,8}){0,4})(?![A-Za-z\d-])",
        lambda text: _is_number(5, text),
        clue=all_clues(beyond_latin, least_digits(5), any_match(_GLUED)),
        reach=14,
    ),
    shape(  # आधार संख्या 2872 1845 2070
        "NATIONAL_ID",
        rf"{_ELSEWHERE}[ :：.]{{0,3}}(?:(?:is|है|هو|είναι) )?"
        r"(?P<part>(?:[A-Z]{1,5}-?)?\d[\dA-Z]{2,20}(?:[ -]\d{1,8}){0,4})(?![A-Za-z\d-])",
        lambda text: _is_number(4, text),
        clue=all_clues(beyond_latin, least_digits(4), any_match(_ELSEWHERE)),
        reach=24,
    ),
    shape(  # AB12 CDE
        "ACCOUNT_NUMBER",
        rf"(?<![\w-]){_BRITISH_PLATE}(?![\w-])",
        clue=any_figure(r"[A-Z]{2}\d\d [A-Z]{3}"),
        reach=4,
    ),
    shape(  # of a British bank: 20-45-77 43817720
        "ACCOUNT_NUMBER",
        r"(?<![\w-])\d\d-\d\d-\d\d(?: ?/ ?| {1,2}|, )\d{8}(?![\w-]|[.,]\d)",
        clue=all_clues(least_digits(14), any_figure(r"\d-\d\d[ ,/]{1,3}\d{8}")),
        reach=12,
    ),
    shape(  # {"system": "…/nhs-number", "value": "9605450046"}
        "NATIONAL_ID",
        r"\"system\"\s{0,4}:\s{0,4}\"[^\"\n]{1,80}\"\s{0,4},\s{0,8}\"value\"\s{0,4}:\s{0,4}"
        r"\"(?P<part>[A-Z\d-]{5,20})\"",
        lambda text: _is_number(5, text),
        clue=all_clues(any_string('"system"'), least_digits(5)),
        reach=2,
    ),
    shape(  # the number of the account at the bank is 123456789
        "ACCOUNT_NUMBER",
        r"(?<!\w)(?:account|konto|compte|cuenta|conto|conta)\b[^.!?\n\d]{0,60}"
        rf"(?: {_SAYS}| {_NUMBER_WORD}\.?|:)[ :]{{1,2}}{_VALUE}",
        lambda text: _is_number(6, text),
        case=False,
        clue=all_clues(least_digits(6), any_listed("account konto compte cuenta conto conta")),
        reach=4,
    ),
    shape(
        "PHONE_NUMBER",
        r"(?<!\w)(?:my|his|her|your|their|our|meine|seine|ihre|mon|son|mi|su) "
        rf"(?:number|nummer|numéro|número)(?: {_SAYS}\b)?[ :]{{1,3}}"
        r"(?P<part>\+?\d[\d ()/-]{4,20}\d)(?![\w]|[.,]\d)",
        lambda text: _is_number(6, text),
        case=False,
        clue=all_clues(least_digits(6), any_listed("number nummer numéro número")),
        reach=16,
    ),
    shape(
        "ACCOUNT_NUMBER",
        rf"(?<!\w)(?:last_?4|{_LAST} (?:digits|numbers|ziffern|chiffres|dígitos|cifre)"
        r"(?: of (?:my|the|his|her|your|their|our) \w{2,12}(?: \w{2,12})?)?"
        rf"(?: {_SAYS})?|{_LAST} of (?:(?:my|the|his|her|your|their|our) )?card"
        rf"|{_HOLDS}\b[^.!?\n]{{0,20}}? (?:{_ENDS}|ending)"
        rf"|(?:visa|mastercard|amex|card) ?(?=[…•*.]))[\"']?[ :*x.…•\"'-]{{1,6}}"
        r"(?P<part>\d{3,6})(?!\w)",
        case=False,
        clue=all_clues(
            least_digits(3),
            any_listed(_LAST_LIST, _ENDS_LIST, "ending last4 last_4 visa mastercard amex card"),
        ),
        reach=50,
    ),
    shape(
        "ACCOUNT_NUMBER",
        # A row of figures goes on: 3375 **** 3515 3479
        r"(?<![\w*•])(?:[*•]{4}[ -]?|[xX]{4}[ -]){1,3}(?P<part>\d{4})(?!\w| \d{4}(?!\d))",
        clue=any_match(r"[*•xX]{4}"),
        reach=4,
    ),
    shape(  # passport copy, 534718820
        "NATIONAL_ID",
        r"(?<!\w)(?:passport|pass|passeport|pasaporte|passaporto|paspoort)(?: [a-z]{2,12}){1,4}"
        r"[:,]? (?P<part>(?-i:[A-Z\d]{8,9}))(?![\w-])",
        lambda text: len(digits(text)) > 3,
        case=False,
        clue=all_clues(least_digits(4), any_string("pass", "pasaport", "paspoort")),
        reach=12,
    ),
    shape(  # MC 5397 8649 9257 4896, mistyped
        "ACCOUNT_NUMBER",
        r"(?<!\w)(?:card|karte|carte|tarjeta|carta|visa|master(?:card)?|amex|mc|jcb|maestro)\b"
        r"[^\n\d]{0,20}(?P<part>(?:\d{4}[ -]){3}\d{4})(?![\w-])",
        case=False,
        clue=all_clues(least_digits(16), any_figure(r"\d{4}(?:[ -]\d{4}){3}")),
        reach=40,
    ),
    shape(  # … 4896 04/29
        "ACCOUNT_NUMBER",
        r"(?<=\d{4}) (?:[^\W\d_]{2,8}[.:]? )?(?P<part>(?:0[1-9]|1[0-2])/[2-4]\d)(?![\w/-])",
        clue=all_clues(least_digits(12), any_figure(r"\d/[2-4]\d(?![\w/-])")),
        locate=_locate_expiry,
        reach=24,
    ),
    shape(
        "ACCOUNT_NUMBER",
        r"(?<!\w)(?:exp(?:iry|ires|iration|\.)?(?: date)?|valid (?:thru|until|to)|gültig bis"
        r"|caduca|expire le)[\"']?[ :=]{1,3}[\"']?"
        r"(?P<part>(?:0?[1-9]|1[0-2]) ?[/-] ?(?:20)?[2-4]\d)(?!\w|[/-])",
        case=False,
        clue=all_clues(
            least_digits(3), any_listed("exp expiry expires expiration valid gültig caduca expire")
        ),
        reach=4,
        locate=_locate_expiry,
    ),
    shape(
        "ACCOUNT_NUMBER",
        r"(?<=[\w}])/(?:users?|customers?|clients?|accounts?|patients?|members?|employees?|people"
        r"|persons?|students?|subscribers?)/(?P<part>\d{4,12})(?![\w.])",
        _is_account,
        clue=any_match(r"/\d{4}"),
        reach=20,
    ),
    shape(
        "COORDINATES",
        r"(?<![\w.,-])(?P<part>-?\d{1,3}\.\d{4,9}°?(?: ?[NSEW])?[,;/ ] ?-?\d{1,3}\.\d{4,9}"
        r"°?(?: ?[NSEW])?)(?![\w.])",
        clue=any_match(r"\.\d{4}"),
        locate=_locate_home,
        reach=6,
    ),
    shape(
        "COORDINATES",
        r"(?<![\w.,])(?P<part>\d{1,3}° ?\d{1,2}['′’] ?\d{1,2}(?:\.\d{1,5})?(?:\"|″|''|”)? ?[NSEWO]"
        r"[,; ]{0,2}\d{1,3}° ?\d{1,2}['′’] ?\d{1,2}(?:\.\d{1,5})?(?:\"|″|''|”)? ?[NSEWO])(?!\w)",
        clue=any_string("°"),
        locate=_locate_home,
        reach=6,
    ),
    shape(  # of a picture: GPS Position : 51 deg 30' 26.40" N, 0 deg 7' 39.60" W
        "COORDINATES",
        r"(?<!\w)GPS ?(?:Position|Latitude|Longitude|Coordinates)[ \t]{0,24}[:=] ?"
        rf"(?P<part>{_DEGREES}(?:, {_DEGREES})?)(?!\w)",
        case=False,
        clue=any_string("gps"),
        reach=8,
    ),
    shape(  # <customerId>88213456</customerId>
        "ACCOUNT_NUMBER",
        r"<(?:\w{1,20}:)?(?P<key>[A-Za-z][\w.-]{1,40})(?:\s[^<>]{0,100})?>\s{0,4}"
        r"(?P<part>[A-Za-z]{0,4}[ -]?\d[\dA-Za-z./-]{3,24})\s{0,4}</",
        clue=all_clues(least_digits(4), any_string("</")),
        locate=_locate_element,
        reach=200,
    ),
    shape(  # a passport's lines for machines
        "NATIONAL_ID",
        r"(?<![\w<])[PIACV][A-Z<][A-Z]{3}"
        r"(?P<part>[A-Z]{1,30}(?:<[A-Z]{1,30}){0,4}<<[A-Z<]{1,40})(?![\w<])",
        clue=any_string("<<"),
        locate=_locate_passport,
        reach=180,
    ),
    shape(
        "NATIONAL_ID",
        r"(?<![\w<])(?P<part>[A-Z\d<]{9}\d[A-Z<]{3}\d{7}[MFX<]\d{7}[A-Z\d<]{2,16})(?![\w<])",
        clue=least_digits(14),
        reach=40,
    ),
    shape(
        "COORDINATES",
        r"(?<![\w/:])(?P<part>///[a-z]{3,16}\.[a-z]{3,16}\.[a-z]{3,16})(?![\w.])",
        clue=any_string("///"),
        reach=4,
    ),
    shape(
        "COORDINATES",
        r"(?<![\w+])(?P<part>[23456789CFGHJMPQRVWX]{8}\+[23456789CFGHJMPQRVWX]{2,3})(?![\w+])",
        lambda code: bool(digits(code)),
        clue=any_match(r"[2-9CFGHJMPQRVWX]\+[2-9CFGHJMPQRVWX]"),
        reach=12,
    ),
    shape(
        "CRYPTO",
        r"(?<![\w/])(?:[13][1-9A-HJ-NP-Za-km-z]{25,34}|bc1[02-9ac-hj-np-z]{11,71})(?!\w)",
        is_wallet,
        clue=any_match(r"[13b](?<!\w.)(?:\w{24}|c1\w{11})"),
        reach=4,
    ),
    shape(
        "CRYPTO",
        r"(?<!\w)0x[0-9a-fA-F]{40}(?!\w)",
        clue=any_string("0x"),
        locate=_locate_wallet,
        reach=4,
    ),
)
