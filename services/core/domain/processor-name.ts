/** The name of the only processor, of PROCESSOR_URL. */
export const UNNAMED = 'default';

/** What its rows hold: '' is from before processors had names. */
export const STORED_UNNAMED: readonly string[] = ['', UNNAMED];
