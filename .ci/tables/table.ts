/** A table of a document: its header, then its rows. Cells are Markdown. */
export type Table = readonly (readonly string[])[];
