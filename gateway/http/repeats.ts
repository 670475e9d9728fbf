/** Whether a refused request may be sent again, and how (docs/product.md, "What an answer promises"). */
export const REPEATS = {
  LATER: {
    name: 'later',
    about:
      'Nothing was stored or sent to a processor, or ever will be. Send the same request again after `Retry-After`, ' +
      'under the same `Idempotency-Key` if it has one.',
  },
  SAME_KEY: {
    name: 'under the same key',
    about:
      'It may have been done, or will be. The same request under the same `Idempotency-Key` gets its outcome, and does ' +
      'nothing twice; another key could.',
  },
  LOOK_FIRST: {
    name: 'after a look',
    about:
      'It may have been done; what is not done 30 s later never will be. Read what it was to change, or send it again ' +
      'where a second time does no harm.',
  },
  NEW_KEY: {
    name: 'as a new operation',
    about:
      'It was not done, and is recorded as KO under `requestId`. The same `Idempotency-Key` gets this answer again: ' +
      'another try needs a key of its own.',
  },
  WAIT: {
    name: 'once the cause is over',
    about:
      'Nothing was done. The same request may succeed, also under the same `Idempotency-Key`, once what prevents it is ' +
      'over.',
  },
  CORRECTED: {
    name: 'corrected',
    about: 'Nothing was done, and the same request is refused again.',
  },
  NEVER: {
    name: 'never',
    about: 'Nothing was done, and this request can no longer succeed.',
  },
} as const satisfies Readonly<Record<string, { readonly name: string; readonly about: string }>>;
