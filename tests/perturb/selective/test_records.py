"""What records of patients and of courts say of people is found by the words of such records."""

from __future__ import annotations

import pytest

from perturb.selective.policies import PatternPolicy

NUMBERS = (
    "NHC: ⟦4820917⟧.",
    "NHC 9038127, hab 3".replace("9038127", "⟦9038127⟧"),
    "cuyo NHC es ⟦884120⟧ y su tarjeta",
    "NHC: ⟦552⟧.\nNASS",
    "NASS: ⟦37 48820193 06⟧.",
    "NºCol: ⟦28 28 55102⟧.",
    "Nº Historia: ⟦1029384⟧   DNI",
    "SIP: ⟦10293847⟧.",
    "CIP autonómico: ⟦RSPC620714923012⟧.",
    "Nº biopsia: ⟦18B0003317⟧.",
    "Ficha clínica: ⟦FC-88120⟧.",
    "Tarjeta sanitaria: ⟦AN 0938475610⟧.",
    "IPP : ⟦8002938471⟧.",
    "RPPS ⟦10003928174⟧ - 11 place",
    "Nosologico: ⟦2019/084417⟧",
    "n. nosologico ⟦19-034417⟧. Anamnesi",
    "Accesso n. ⟦19022833⟧ del",
    "Prontuário: ⟦55129384B⟧",
    "Cartão SUS ⟦708 4019 2238 1170⟧.",
    "O BI dele é o ⟦10338271⟧.",
    "Aufnahmenummer ⟦20193387⟧",
    "Fallnummer ⟦1903-44817⟧",
    "Unit No:   ⟦4481920⟧",
    "ACCT: ⟦V00183920117⟧",
    "Specimen #: ⟦S18-33017⟧.",
    "N.H.C.: ⟦120938⟧",
    "n° FINESS ⟦130783236⟧",
    "dossier médical n° ⟦20-119283⟧",
    "N° de sécurité sociale : ⟦2 38 07 29 019 044 27⟧",
)
NO_NUMBERS = (
    "Open port SIP 5060 on the firewall.",
    "The CRM 2016 release notes.",
    "episode 12 of the series",
    "Biopsia: 12/02/2018",
    "NASS 20 mg",
    "historia: 3 hijos",
    "RUN 100 times",
    "OM 12345,50 €",
    "exam 2019-2020",
    "Registro: 12 entradas",
    "dossier de presse 2024",
    "BI tools in 2024",
)
CASES = (
    "N° RG ⟦18/03921⟧",
    "N° Portalis ⟦DBVT-V-B7C-RWQL⟧",
    "RG n° ⟦20/01188⟧",
    "N° de MINUTE : ⟦19/482⟧",
    "Pourvoi n° ⟦K 15-25.250⟧",
    "Diligencias Previas ⟦1283/2016⟧",
    "R.G. n. ⟦1183/2016⟧",
    "Proc. ⟦1877/14.2TBVNG.P1⟧",
    "par un jugement n° ⟦1503391⟧ du",
)
NAMES = (
    "Médico: ⟦Koldo Aranburu Etxeberria⟧ NºCol: 20 20 61137",
    "Remitido por: Dra. ⟦Leocadia Ferreras Monzón⟧. Servicio",
    "Fdo. Dra. ⟦Piedad Alarcón-Meroño⟧",
    "Paciente: ⟦BLANCO FERREIRO, XOÁN⟧\nNº",
    "Apellidos: ⟦Puigdemunt i Serrallonga⟧.",
    "Opérateur : Dr ⟦J.-F. Chauvet⟧   Aide",
    "Il patologo: ⟦Villanacci-Moretti Luisa⟧",
    "Relator: ⟦Aristides Rodrigues de Almeida⟧.",
    "Attending: ⟦Priya Venkataraman⟧, MD",
    "Dictated by: ⟦R. Feingold⟧, MD",
    "Nom : ⟦VASSEUR⟧   Prénom : Ginette",
    "su mujer (⟦Toñi⟧) avisa",
    "traduce su primo, ⟦Modou⟧.",
    "Contacto: hermana, ⟦Oksana⟧, 612",
    "le staff avec le Pr ⟦Obadia⟧.",
    "représentée par Me ⟦Navy⟧, demande",
    "dall'avv. ⟦Piercarlo Ubertini⟧ che",
    "Frau Dipl.-Psych. ⟦Özdemir⟧.",
    "Cirujano: ⟦Melquíades Roca⟧",
)
NO_NAMES = (
    "Paciente: Varón de 66 años",
    "Médico: Urgencias",
    "Anesthesia: General",
    "Patient: male, 44",
    "Paciente: Consciente y orientado",
    "Assistant: I can help you.",
    "Attending: the meeting on Monday",
    "patient: string;",
    "Aide : voir la documentation",
    "Nom : Serveur principal",
    "Presidente: sí",
    "the sister company, which",
    "Expert Review of Neurotherapeutics",
    "raids ordered by Iraqi police",
)
STREETS = (
    "Hospital de Ceuta. ⟦Loma Colmenar, s/n⟧. 51003 Ceuta",
    "⟦Ctra. de Cádiz km. 548,9⟧. 41014",
    "⟦C/ Dr. Mallafré Guasch, 4⟧. 43005",
    "Domicilio: ⟦Camino Viejo de Monteagudo n.º 45⟧, Murcia",
    "domiciliata in Vercelli, ⟦corso Libertà 88⟧, presso",
    "⟦P.zza Garibaldi 6⟧, Cantù",
    "⟦Plaza Mayor nº 6, 1º A⟧",
    "residente in ⟦via Po 12/B⟧",
    "demeurant ⟦La Renaudière⟧ à Machecoul",
    "domiciliée ⟦lieu-dit Combelasse⟧, 12200",
)
NO_STREETS = (
    "Check the S/N of the device, s/n below.",
    "via USB 3 or via SSH 2",
    "calle cerrada en 2024",
    "a piazza affari il 3 %",
    "and/or s/n",
    "demeurant chez sa mère",
    "demeurant à Lyon",
    "Paseo por el nº 3 de la lista",
)
PLACES = (
    "Localidad/ Provincia: ⟦Logroño. La Rioja⟧.\nCP",
    "Lugar de nacimiento: ⟦Tepatitlán, Jalisco⟧\n",
    "Naturalidade: ⟦Caruaru - PE⟧\n",
)
HOUSES = (
    "copia a la ⟦Residencia Aspaldiko⟧ y",
    "⟦Centro de Salud Ejido Sur⟧ - Consulta",
    "la maestra del ⟦CEIP Gloria Fuertes⟧ pide",
    "⟦Hôpital de jour Les Magnolias⟧, Ballainvilliers",
    "no ⟦Hospital da Senhora da Oliveira⟧, onde",
)
WORK = (
    "Varón de 66 años, ⟦carpintero⟧, con",
    "Mujer de 59 años, ⟦dependienta⟧, nuligesta",
    "Mujer de 36 años, ⟦bibliotecaria⟧, que",
    "de 71 ans, ancien ⟦tailleur de pierre⟧, pour",
    "Ocupación: ⟦costurera⟧   Estado",
    "né le 3 février 1991 à Lens, ⟦cariste⟧, demeurant",
    "née le 08 Avril 1975 à QUIMPER, ⟦aide-soignante⟧, 6 venelle",
    "né le 25 décembre 1962 à Pornic (Loire-Atlantique), ⟦ostréiculteur⟧, demeurant",
    "né le 3 mai 1990 à Lens, de nationalité française, ⟦maçon⟧\n",
    "en qualité de ⟦repasseuse⟧ par la société",
    "di 52 anni, ⟦panettiere⟧, Alcamo",
)
NO_WORK = (
    "de 41 años, fumador de un paquete",
    "de 86 años, soltera, con demencia",
    "de 16 años, previamente sano",
    "de 23 ans, célibataire, sans",
    "né le 3 février 1991 à Lens, demeurant à Arras",
    "née le 3 février 1991, représentée, par",
    "né le 16 avril 1995 à Voiron, fils, de",
    "de 70 anni, portatore di PM",
    "de 34 años, diagnosticado de asma",
)
MONTHS = (
    "presenta desde ⟦noviembre⟧ episodios",
    "arrêté depuis ⟦juillet⟧.",
    "tosse da ⟦ottobre⟧.",
    "Fez Flecainida em ⟦setembro⟧.",
    "desde su muerte en ⟦Navidad⟧.",
    "since ⟦Thanksgiving⟧.",
    "a ⟦veintiuno de noviembre de dos mil dieciséis⟧.",
)
NO_MONTHS = ("he may leave", "una marcha de agosto", "from March on foot", "on the march")


def read(marked: str) -> tuple[str, str]:
    start, end = marked.index("⟦"), marked.index("⟧") - 1
    text = marked.replace("⟦", "").replace("⟧", "")
    return text, text[start:end]


def find(text: str, type_: str) -> list[str]:
    policy = PatternPolicy.shipped([type_])
    return [text[span.start : span.end] for span in policy.find(text)]


SIDES = (
    ("ACCOUNT_NUMBER", NUMBERS, NO_NUMBERS),
    ("CASE_NUMBER", CASES, ()),
    ("PERSON", NAMES, NO_NAMES),
    ("STREET_ADDRESS", STREETS, NO_STREETS),
    ("LOCATION", PLACES, ()),
    ("ORGANIZATION", HOUSES, ()),
    ("PROFESSION", WORK, NO_WORK),
    ("DATE_TIME", MONTHS, NO_MONTHS),
)
FOUND = [(type_, text) for type_, texts, _ in SIDES for text in texts]
LEFT = [(type_, text) for type_, _, texts in SIDES for text in texts]


@pytest.mark.parametrize(("type_", "marked"), FOUND)
def test_what_a_record_says_of_somebody_is_found(type_: str, marked: str) -> None:
    text, part = read(marked)
    assert part in find(text, type_)


@pytest.mark.parametrize(("type_", "text"), LEFT)
def test_what_looks_alike_is_left(type_: str, text: str) -> None:
    assert find(text, type_) == []
