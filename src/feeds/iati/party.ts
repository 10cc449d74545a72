/** An organisation as IATI refers to it: at least one of `ref` and `name` is present (rule 6.10.1). */
export type Party = { readonly ref?: string; readonly type?: string; readonly name?: string }
