/**
 * How files that were not made for this program are read: what options say, and what a source keeps. It is JSON, so that it
 * can be stored, shown and shared.
 */
export type FileReading = {
  /** The fields that columns of CSV are, by the columns' names; an empty name leaves a column out. */
  readonly map?: Readonly<Record<string, string>> | undefined
  /** Values of columns that stand for others: `{"Status": {"laufend": "active"}}`. Letter case does not matter. */
  readonly values?: Readonly<Record<string, Readonly<Record<string, string>>>> | undefined
  /** Only rows with one of these values in a column are read. */
  readonly only?: Readonly<Record<string, readonly string[]>> | undefined
  /** Rows with one of these values in a column are left out, such as totals. */
  readonly without?: Readonly<Record<string, readonly string[]>> | undefined
  /** Values of fields that no column has. */
  readonly constants?: Readonly<Record<string, string>> | undefined
  /** Columns whose empty cells have the value above them, as merged cells of a spreadsheet leave them. */
  readonly fillDown?: readonly string[] | undefined
  /** Columns of files as `name.jpg (https://...)` with commas between, of which the addresses are read. */
  readonly attachments?: readonly string[] | undefined
  /** Columns with plain text for a field that holds HTML: their signs, lines and paragraphs stay. */
  readonly plain?: readonly string[] | undefined
  /** Columns that `map` does not name are left out, and columns that it names may be missing. Absent: neither. */
  readonly others?: 'left out' | undefined
  /** The IANA time zone of days: instants are days of it, and no day is later than its today. Absent: that of the service. */
  readonly zone?: string | undefined
  /** Columns that are left out although they tell rows apart, such as a status. */
  readonly ignore?: readonly string[] | undefined
  /** The decimal sign of numbers in CSV, or that they are whole cents; absent: they are plain, and what may be read in two ways is refused. */
  readonly decimal?: 'comma' | 'point' | 'cents' | undefined
  /** How days in CSV are written, such as `dd.mm.yyyy`; absent: 2026-11-21. */
  readonly date?: string | undefined
  /** The encoding of CSV without a byte order mark, as the WHATWG Encoding Standard names it; absent: UTF-8. */
  readonly encoding?: string | undefined
  /** The sheet of a workbook that is read; absent: the only one that is seen and has rows. */
  readonly sheet?: string | undefined
  /** What `NULL`, `N/A` and the like mean; absent: they are refused where a text may be meant. */
  readonly missing?: 'empty' | 'text' | undefined
}

/** A recipe: how files become records of a kind. */
export type Recipe = FileReading & {
  readonly kind?: string | undefined
  /** What it is for, for people. */
  readonly about?: string | undefined
  /** The page that says which columns such files have. */
  readonly page?: string | undefined
}
