// The countries that an answer can name, with common other names. Tables get code, name and
// currency from countries-list (build/places/countries.ts); this copy is for installations without
// the compiler. test/policy/condition/member-values.test.ts compares both.

export interface Country {
  /** ISO 3166-1 alpha-2, with the reserved AC and TA and the user-assigned XK. */
  readonly code: string
  /** ISO 3166-1 alpha-3. */
  readonly alpha3: string
  /** ISO 4217; '' in Antarctica. */
  readonly currency: string
  readonly name: string
  /** Other current and former names. */
  readonly aliases: readonly string[]
}

/** Code, alpha-3, currency or -, name and aliases. */
const rows = `
AC ASC SHP Ascension Island; AD AND EUR Andorra; AE ARE AED United Arab Emirates|UAE|Emirates;
AF AFG AFN Afghanistan; AG ATG XCD Antigua and Barbuda; AI AIA XCD Anguilla; AL ALB ALL Albania;
AM ARM AMD Armenia; AO AGO AOA Angola; AQ ATA - Antarctica; AR ARG ARS Argentina;
AS ASM USD American Samoa; AT AUT EUR Austria; AU AUS AUD Australia; AW ABW AWG Aruba;
AX ALA EUR Aland; AZ AZE AZN Azerbaijan; BA BIH BAM Bosnia and Herzegovina; BB BRB BBD Barbados;
BD BGD BDT Bangladesh|East Pakistan; BE BEL EUR Belgium; BF BFA XOF Burkina Faso|Upper Volta;
BG BGR EUR Bulgaria; BH BHR BHD Bahrain|Bahrein; BI BDI BIF Burundi; BJ BEN XOF Benin|Dahomey;
BL BLM EUR Saint Barthelemy; BM BMU BMD Bermuda; BN BRN BND Brunei; BO BOL BOB Bolivia;
BQ BES USD Bonaire; BR BRA BRL Brazil; BS BHS BSD Bahamas; BT BTN BTN Bhutan;
BV BVT NOK Bouvet Island; BW BWA BWP Botswana|Bechuanaland;
BY BLR BYN Belarus|Byelorussia|Belorussia; BZ BLZ BZD Belize|British Honduras; CA CAN CAD Canada;
CC CCK AUD Cocos (Keeling) Islands;
CD COD CDF Democratic Republic of the Congo|Zaire|Congo-Kinshasa|DR Congo|DRC;
CF CAF XAF Central African Republic|Ubangi-Shari;
CG COG XAF Republic of the Congo|Congo-Brazzaville; CH CHE CHF Switzerland;
CI CIV XOF Ivory Coast|Cote d'Ivoire; CK COK NZD Cook Islands; CL CHL CLP Chile;
CM CMR XAF Cameroon; CN CHN CNY China; CO COL COP Colombia; CR CRI CRC Costa Rica;
CU CUB CUP Cuba; CV CPV CVE Cabo Verde|Cape Verde; CW CUW XCG Curacao;
CX CXR AUD Christmas Island; CY CYP EUR Cyprus; CZ CZE CZK Czechia|Czech Republic|Česká republika;
DE DEU EUR Germany; DJ DJI DJF Djibouti; DK DNK DKK Denmark; DM DMA XCD Dominica;
DO DOM DOP Dominican Republic; DZ DZA DZD Algeria; EC ECU USD Ecuador; EE EST EUR Estonia;
EG EGY EGP Egypt; EH ESH MAD Western Sahara|Spanish Sahara; ER ERI ERN Eritrea; ES ESP EUR Spain;
ET ETH ETB Ethiopia|Abyssinia; FI FIN EUR Finland; FJ FJI FJD Fiji; FK FLK FKP Falkland Islands;
FM FSM USD Micronesia; FO FRO DKK Faroe Islands; FR FRA EUR France; GA GAB XAF Gabon;
GB GBR GBP United Kingdom|UK|Britain|Great Britain; GD GRD XCD Grenada; GE GEO GEL Georgia;
GF GUF EUR French Guiana; GG GGY GBP Guernsey; GH GHA GHS Ghana|Gold Coast; GI GIB GIP Gibraltar;
GL GRL DKK Greenland; GM GMB GMD Gambia; GN GIN GNF Guinea; GP GLP EUR Guadeloupe;
GQ GNQ XAF Equatorial Guinea; GR GRC EUR Greece;
GS SGS GBP South Georgia and the South Sandwich Islands; GT GTM GTQ Guatemala; GU GUM USD Guam;
GW GNB XOF Guinea-Bissau|Portuguese Guinea; GY GUY GYD Guyana; HK HKG HKD Hong Kong;
HM HMD AUD Heard Island and McDonald Islands; HN HND HNL Honduras; HR HRV EUR Croatia;
HT HTI HTG Haiti; HU HUN HUF Hungary; ID IDN IDR Indonesia|Dutch East Indies; IE IRL EUR Ireland;
IL ISR ILS Israel; IM IMN GBP Isle of Man; IN IND INR India;
IO IOT USD British Indian Ocean Territory; IQ IRQ IQD Iraq; IR IRN IRR Iran|Persia;
IS ISL ISK Iceland; IT ITA EUR Italy; JE JEY GBP Jersey; JM JAM JMD Jamaica; JO JOR JOD Jordan;
JP JPN JPY Japan; KE KEN KES Kenya; KG KGZ KGS Kyrgyzstan|Kirghizia|Kyrgyz Republic;
KH KHM KHR Cambodia|Kampuchea; KI KIR AUD Kiribati|Gilbert Islands; KM COM KMF Comoros;
KN KNA XCD Saint Kitts and Nevis; KP PRK KPW North Korea|DPRK;
KR KOR KRW South Korea|Republic of Korea; KW KWT KWD Kuwait; KY CYM KYD Cayman Islands;
KZ KAZ KZT Kazakhstan; LA LAO LAK Laos|Lao PDR; LB LBN LBP Lebanon; LC LCA XCD Saint Lucia;
LI LIE CHF Liechtenstein; LK LKA LKR Sri Lanka|Ceylon; LR LBR LRD Liberia;
LS LSO LSL Lesotho|Basutoland; LT LTU EUR Lithuania; LU LUX EUR Luxembourg; LV LVA EUR Latvia;
LY LBY LYD Libya; MA MAR MAD Morocco; MC MCO EUR Monaco; MD MDA MDL Moldova|Moldavia;
ME MNE EUR Montenegro; MF MAF EUR Saint Martin; MG MDG MGA Madagascar;
MH MHL USD Marshall Islands; MK MKD MKD North Macedonia|Macedonia|FYROM;
ML MLI XOF Mali|French Sudan; MM MMR MMK Myanmar|Burma|Myanmar (Burma); MN MNG MNT Mongolia;
MO MAC MOP Macao|Macau; MP MNP USD Northern Mariana Islands; MQ MTQ EUR Martinique;
MR MRT MRU Mauritania; MS MSR XCD Montserrat; MT MLT EUR Malta; MU MUS MUR Mauritius;
MV MDV MVR Maldives; MW MWI MWK Malawi|Nyasaland; MX MEX MXN Mexico; MY MYS MYR Malaysia;
MZ MOZ MZN Mozambique; NA NAM NAD Namibia|South West Africa; NC NCL XPF New Caledonia;
NE NER XOF Niger; NF NFK AUD Norfolk Island; NG NGA NGN Nigeria; NI NIC NIO Nicaragua;
NL NLD EUR Netherlands|Holland; NO NOR NOK Norway; NP NPL NPR Nepal; NR NRU AUD Nauru;
NU NIU NZD Niue; NZ NZL NZD New Zealand; OM OMN OMR Oman; PA PAN PAB Panama; PE PER PEN Peru;
PF PYF XPF French Polynesia; PG PNG PGK Papua New Guinea; PH PHL PHP Philippines;
PK PAK PKR Pakistan; PL POL PLN Poland; PM SPM EUR Saint Pierre and Miquelon;
PN PCN NZD Pitcairn Islands; PR PRI USD Puerto Rico; PS PSE ILS Palestine; PT PRT EUR Portugal;
PW PLW USD Palau; PY PRY PYG Paraguay; QA QAT QAR Qatar; RE REU EUR Reunion;
RO ROU RON Romania|Rumania|Roumania; RS SRB RSD Serbia; RU RUS RUB Russia|Russian Federation;
RW RWA RWF Rwanda; SA SAU SAR Saudi Arabia; SB SLB SBD Solomon Islands; SC SYC SCR Seychelles;
SD SDN SDG Sudan; SE SWE SEK Sweden; SG SGP SGD Singapore; SH SHN SHP Saint Helena;
SI SVN EUR Slovenia; SJ SJM NOK Svalbard and Jan Mayen; SK SVK EUR Slovakia;
SL SLE SLE Sierra Leone; SM SMR EUR San Marino; SN SEN XOF Senegal; SO SOM SOS Somalia;
SR SUR SRD Suriname; SS SSD SSP South Sudan; ST STP STN Sao Tome and Principe;
SV SLV USD El Salvador; SX SXM XCG Sint Maarten; SY SYR SYP Syria|Syrian Arab Republic;
SZ SWZ SZL Eswatini|Swaziland; TA TAA SHP Tristan da Cunha; TC TCA USD Turks and Caicos Islands;
TD TCD XAF Chad; TF ATF EUR French Southern Territories; TG TGO XOF Togo;
TH THA THB Thailand|Siam; TJ TJK TJS Tajikistan; TK TKL NZD Tokelau; TL TLS USD East Timor;
TM TKM TMT Turkmenistan|Turkmenia; TN TUN TND Tunisia; TO TON TOP Tonga;
TR TUR TRY Türkiye|Turkey|Turkiye; TT TTO TTD Trinidad and Tobago;
TV TUV AUD Tuvalu|Ellice Islands; TW TWN TWD Taiwan|Formosa; TZ TZA TZS Tanzania|Tanganyika;
UA UKR UAH Ukraine; UG UGA UGX Uganda; UM UMI USD U.S. Minor Outlying Islands;
US USA USD United States|US|USA|America|United States of America; UY URY UYU Uruguay;
UZ UZB UZS Uzbekistan; VA VAT EUR Vatican City|Holy See|Vatican;
VC VCT XCD Saint Vincent and the Grenadines; VE VEN VES Venezuela;
VG VGB USD British Virgin Islands; VI VIR USD U.S. Virgin Islands; VN VNM VND Vietnam|Viet Nam;
VU VUT VUV Vanuatu|New Hebrides; WF WLF XPF Wallis and Futuna; WS WSM WST Samoa;
XK XKX EUR Kosovo; YE YEM YER Yemen; YT MYT EUR Mayotte; ZA ZAF ZAR South Africa;
ZM ZMB ZMW Zambia|Northern Rhodesia; ZW ZWE ZWG Zimbabwe|Rhodesia|Southern Rhodesia
`

export const countries: readonly Country[] = rows
  .trim()
  .split(/;\s+/)
  .map((row) => {
    const [code = '', alpha3 = '', currency = '', ...names] = row.split(' ')
    const [name = '', ...aliases] = names.join(' ').split('|')
    return { code, alpha3, currency: currency === '-' ? '' : currency, name, aliases }
  })

export const continents = {
  AF: 'Africa',
  AN: 'Antarctica',
  AS: 'Asia',
  EU: 'Europe',
  NA: 'North America',
  OC: 'Oceania',
  SA: 'South America',
} as const
