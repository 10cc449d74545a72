/** The smallest box of whole degrees around a country: south, west, north, east. */
export type CountryBox = readonly [south: number, west: number, north: number, east: number]

// Computed from Natural Earth's 1:50m countries (public domain) and rounded outwards. A country on both sides of the
// 180th meridian spans all longitudes here: nothing wrong is then found in longitude.
const rows = `
AD 42 1 43 2;AE 22 51 27 57;AF 29 60 39 75;AG 16 -62 18 -61;AI 18 -64 19 -62;AL 39 19 43 22;AM 38 43 42 47;
AO -19 11 -4 25;AQ -90 -180 -60 180;AR -56 -74 -21 -53;AS -15 -171 -14 -170;AT 46 9 50 18;
AU -55 112 -10 159;AW 12 -71 13 -69;AX 60 19 61 21;AZ 38 44 42 51;BA 42 15 46 20;BB 13 -60 14 -59;
BD 20 88 27 93;BE 49 2 52 7;BF 9 -6 16 3;BG 41 22 45 29;BH 25 50 27 51;BI -5 29 -2 31;BJ 6 0 13 4;
BL 17 -63 18 -62;BM 32 -65 33 -64;BN 4 114 6 116;BO -23 -70 -9 -57;BR -34 -75 6 -34;BS 20 -79 27 -72;
BT 26 88 29 93;BW -27 19 -17 30;BY 51 23 57 33;BZ 15 -90 19 -87;CA 41 -142 84 -52;CD -14 12 6 32;
CF 2 14 11 28;CG -6 11 4 19;CH 45 5 48 11;CI 4 -9 11 -2;CK -22 -160 -21 -159;CL -56 -110 -17 -66;
CM 1 8 14 17;CN 18 73 54 135;CO -5 -80 13 -66;CR 8 -86 12 -82;CU 19 -85 24 -74;CV 14 -26 18 -22;
CW 12 -70 13 -68;CY 34 32 36 35;CZ 48 12 52 19;DE 47 5 56 16;DJ 10 41 13 44;DK 54 8 58 16;DM 15 -62 16 -61;
DO 17 -72 20 -68;DZ 18 -9 38 12;EC -5 -92 2 -75;EE 57 21 60 29;EG 21 24 32 37;EH 20 -18 28 -8;
ER 12 36 19 44;ES 27 -19 44 5;ET 3 32 15 48;FI 59 20 71 32;FJ -22 -180 -12 180;FK -53 -62 -51 -57;
FM 5 138 10 163;FO 61 -8 63 -6;FR -22 -62 52 56;GA -4 8 3 15;GB 50 -9 61 2;GD 12 -62 13 -61;GE 41 39 44 47;
GG 49 -3 50 -2;GH 4 -4 12 2;GL 59 -73 84 -11;GM 13 -17 14 -13;GN 7 -16 13 -7;GQ 0 8 4 12;GR 34 19 42 29;
GS -59 -39 -53 -26;GT 13 -93 18 -88;GU 13 144 14 145;GW 10 -17 13 -13;GY 1 -62 9 -56;HK 22 113 23 115;
HM -54 73 -52 74;HN 12 -90 17 -83;HR 42 13 47 20;HT 18 -75 21 -71;HU 45 16 49 23;ID -11 95 6 141;
IE 51 -11 56 -6;IL 29 34 34 36;IM 54 -5 55 -4;IN 6 68 36 98;IO -8 72 -7 73;IQ 29 38 38 49;IR 25 44 40 64;
IS 63 -25 67 -13;IT 36 6 48 19;JE 49 -3 50 -2;JM 17 -79 19 -76;JO 29 34 34 40;JP 24 123 46 146;
KE -5 33 6 42;KG 39 69 44 81;KH 10 102 15 108;KI -12 -175 4 175;KM -13 43 -11 45;KN 17 -63 18 -62;
KP 37 124 43 131;KR 33 126 39 131;KW 28 46 31 49;KY 19 -82 20 -79;KZ 40 46 56 88;LA 13 100 23 108;
LB 33 35 35 37;LC 13 -62 15 -60;LI 47 9 48 10;LK 5 79 10 82;LR 4 -12 9 -7;LS -31 27 -28 30;LT 53 20 57 27;
LU 49 5 51 7;LV 55 21 59 29;LY 19 9 34 26;MA 21 -18 36 -1;MC 43 7 44 8;MD 45 26 49 31;ME 41 18 44 21;
MF 18 -64 19 -63;MG -26 43 -12 51;MH 5 166 12 172;MK 40 20 43 24;ML 10 -13 25 5;MM 9 92 29 102;
MN 41 87 53 120;MO 22 113 23 114;MP 14 145 19 146;MR 14 -18 28 -4;MS 16 -63 17 -62;MT 35 14 37 15;
MU -21 57 -19 58;MV 3 73 5 74;MW -18 32 -9 36;MX 14 -119 33 -86;MY 0 99 8 120;MZ -27 30 -10 41;
NA -29 11 -16 26;NC -23 159 -19 169;NE 11 0 24 16;NF -30 167 -29 168;NG 4 2 14 15;NI 10 -88 16 -83;
NL 12 -69 54 8;NO 58 -10 81 34;NP 26 80 31 89;NR -1 166 0 167;NU -20 -170 -18 -169;NZ -53 -177 -8 179;
OM 16 51 27 60;PA 7 -84 10 -77;PE -19 -82 0 -68;PF -21 -152 -8 -136;PG -12 140 -1 156;PH 5 116 21 127;
PK 23 60 38 78;PL 49 14 55 25;PM 46 -57 48 -56;PN -25 -129 -24 -128;PR 17 -68 19 -65;PS 31 34 33 36;
PT 32 -32 43 -6;PW 3 131 8 135;PY -28 -63 -19 -54;QA 24 50 27 52;RO 43 20 49 30;RS 42 18 47 23;
RU 41 -180 82 180;RW -3 28 -1 31;SA 16 34 33 56;SB -12 155 -6 167;SC -5 55 -4 56;SD 8 21 23 39;
SE 55 11 70 25;SG 1 103 2 104;SH -17 -15 -7 -5;SI 45 13 47 17;SK 47 16 50 23;SL 6 -14 10 -10;SM 43 12 44 13;
SN 12 -18 17 -11;SO -2 40 12 52;SR 1 -59 6 -53;SS 3 24 13 36;ST 0 6 2 8;SV 13 -91 15 -87;SX 18 -64 19 -63;
SY 32 35 38 43;SZ -28 30 -25 33;TC 21 -73 22 -71;TD 7 13 24 24;TF -50 51 -46 71;TG 6 -1 12 2;TH 5 97 21 106;
TJ 36 67 42 76;TL -10 124 -8 128;TM 35 52 43 67;TN 30 7 38 12;TO -22 -176 -18 -173;TR 35 25 43 45;
TT 10 -62 12 -60;TW 21 118 26 122;TZ -12 29 0 41;UA 45 22 53 41;UG -2 29 5 35;US 18 -179 72 180;
UY -35 -59 -30 -53;UZ 37 55 46 74;VA 41 12 42 13;VC 12 -62 14 -61;VE 0 -74 13 -59;VG 18 -65 19 -64;
VI 17 -66 19 -64;VN 8 102 24 110;VU -21 166 -13 170;WF -15 -179 -13 -176;WS -15 -173 -13 -171;
XK 41 20 44 22;YE 12 42 19 55;ZA -47 16 -22 38;ZM -19 21 -8 34;ZW -23 25 -15 34
`

const boxes = new Map<string, CountryBox>()
for (const row of rows.trim().split(/[;\n]+/)) {
  const [code = '', south, west, north, east] = row.split(' ')
  boxes.set(code, [Number(south), Number(west), Number(north), Number(east)])
}

/** The box around a country (ISO 3166-1 alpha-2); undefined for the few that have none here. */
export function boxOf(code: string): CountryBox | undefined {
  return boxes.get(code)
}

// Islets and coasts that the map leaves out lie within this many degrees.
const margin = 1

/** Whether a position lies in the box or up to a degree beside it. */
export function isInside([south, west, north, east]: CountryBox, latitude: number, longitude: number): boolean {
  return (
    latitude >= south - margin && latitude <= north + margin && longitude >= west - margin && longitude <= east + margin
  )
}
