/** The regions that a platform's countries lie in. */
export const regionNames = {
  africa: 'Africa',
  asia: 'Asia and Oceania',
  europe: 'Europe and Russia',
  latin: 'South/Central America and the Caribbean',
  middleEast: 'Middle East',
  north: 'North America',
} as const

const codes: Readonly<Record<keyof typeof regionNames, string>> = {
  africa: `AO BF BI BJ BW CD CF CG CI CM CV DJ DZ EG EH ER ET GA GH GM GN GQ GW IO KE KM LR LS LY MA MG ML MR MU MW MZ NA NE
    NG RE RW SC SD SH SL SN SO SS ST SZ TD TF TG TN TZ UG YT ZA ZM ZW`,
  asia: `AF AS AU BD BN BT CC CK CN CX FJ FM GU HK ID IN JP KG KH KI KP KR KZ LA LK MH MM MN MO MP MV MY NC NF NP NR NU NZ PF PG
    PH PK PN PW SB SG TH TJ TK TL TM TO TV TW UM UZ VN VU WF WS`,
  europe: `AD AL AM AT AX AZ BA BE BG BY CH CY CZ DE DK EE ES FI FO FR GB GE GG GI GR HR HU IE IM IS IT JE LI LT LU LV MC MD ME
    MK MT NL NO PL PT RO RS RU SE SI SJ SK SM UA VA XK`,
  latin: `AG AI AR AW BB BL BO BQ BR BS BZ CL CO CR CU CW DM DO EC FK GD GF GP GS GT GY HN HT JM KN KY LC MF MQ MS NI PA PE PR
    PY SR SV SX TC TT UY VC VE VG VI`,
  middleEast: 'AE BH IL IQ IR JO KW LB OM PS QA SA SY TR YE',
  north: 'BM CA GL MX PM US',
}

const regions = new Map(
  Object.entries(codes).flatMap(([region, list]) =>
    list.split(/\s+/).map((code) => [code, regionNames[region as keyof typeof regionNames]] as const),
  ),
)

/** The region of a country by its ISO 3166-1 alpha-2 code; undefined for Antarctica and codes that are no country. */
export function regionOfCountry(code: string): string | undefined {
  return regions.get(code)
}
