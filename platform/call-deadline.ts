/** The deadline of a call from a gateway to core, unless CORE_TIMEOUT_MS says otherwise, milliseconds. */
export const CALL_DEADLINE_MS = 15_000;
