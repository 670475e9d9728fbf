/** What an operation does, and how it ended, for a reader. A kind that is missing here stands for itself. */
const KINDS = {
  HOLD: { name: 'Hold', OK: 'Hold placed', KO: 'Hold not placed' },
  CAPTURE: { name: 'Capture', OK: 'Captured', KO: 'Not captured' },
  RELEASE: { name: 'Release', OK: 'Released', KO: 'Not released' },
  EXPIRY: { name: 'Expiry', OK: 'Expired', KO: 'Expired' },
  REVERSAL: {
    name: 'Reversal',
    OK: 'Capture reversed by the card scheme',
    KO: 'Capture reversed by the card scheme',
  },
  REINSTATEMENT: {
    name: 'Reinstatement',
    OK: 'Reversal undone by the card scheme',
    KO: 'Reversal undone by the card scheme',
  },
  OCT: { name: 'OCT', OK: 'OCT paid', KO: 'OCT not paid' },
};

/** The kinds that have words. */
export const KNOWN_KINDS = Object.keys(KINDS);

/** The name of a kind. */
export function nameOfKind(kind) {
  return KINDS[kind]?.name ?? kind;
}

/** How an operation ended; status is OK or KO. */
export function endOfKind(kind, status) {
  return KINDS[kind]?.[status] ?? kind;
}

/** The hold that an operation belongs to: a hold's own requestId, or undefined where there is none. */
export function holdOf({ requestId, operation, holdRequestId }) {
  return holdRequestId || (operation === 'HOLD' ? requestId : undefined);
}
