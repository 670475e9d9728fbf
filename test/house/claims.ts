/**
 * The universal claims of the documents, each with a test or check that shows it. A sentence without one is weakened or deleted;
 * test/house/claims.test.ts finds sentences that are missing here.
 */

/**
 * A part of a document and what backs it: a test file with a test's title (or an attack's name) as the source spells it, or a file of `.ci`
 * with the function of the check. The part contains the universal word and occurs once in the document, white space normalised. A part may
 * have several lines here.
 */
export type Claim = readonly [part: string, path: string, title: string];

const CORE = 'test/services/core';
const OBEDIENT = [
  'test/torture/obedient.test.ts',
  `charge once and lose nothing without keys (seed \${seed})`,
] as const;
const OBEDIENT_KEYED = [
  'test/torture/obedient.test.ts',
  `charge once and lose nothing with keys (seed \${seed})`,
] as const;
const CRASH_POINTS = [`${CORE}/recovery/inquire.test.ts`, `at '\${point}'`] as const;
const PLAIN_ID = 'test/house/preauthorization-id.test.ts';
const SHOWN_ID = [
  `${CORE}/rpc/server/scope.test.ts`,
  'shows what captures a hold or opens its checkout in the answer about it alone, and never to operators',
] as const;
const STREAM = [
  `${CORE}/rpc/operation/watch-operations.test.ts`,
  'skips nothing and keeps the order, however often it is cut, while two cores write',
] as const;
const CONFORMANCE = ['test/services/conformance/run.test.ts', `notices: \${name}`] as const;

/** By document. */
export const CLAIMS: Readonly<Record<string, readonly Claim[]>> = {
  'README.md': [
    ['Every block below can be run again', 'test/docs/commands.test.ts', 'place a hold and capture it in two parts'],
    ['Every route, field, refusal and notification', 'test/gateway/openapi/document.test.ts', 'documents every route'],
    [
      'Every route, field, refusal and notification',
      'test/gateway/openapi/document.test.ts',
      "has an example for each code, core's included",
    ],
    [
      'Every route, field, refusal and notification',
      'test/gateway/openapi/serve.test.ts',
      'has an anchor for every route, webhook and code',
    ],
    ['charges nothing twice and loses nothing, whatever is frozen, cut, killed or overloaded', ...OBEDIENT],
    ['nothing was stored, nothing was sent to the processor, and nothing will come of this request', ...OBEDIENT],
    ['A 404 later than 30 s after the 202 is final: it was not done and never will be', ...OBEDIENT],
    ['| it was not done and never will be; a `requestId`', ...OBEDIENT],
    ['sends it again with the same `Idempotency-Key`; without one', ...OBEDIENT_KEYED],
  ],
  'docs/README.md': [
    ['merchants: every route, field, refusal', 'test/gateway/openapi/document.test.ts', 'documents every route'],
    [
      'every setting of every process',
      'test/house/settings.test.ts',
      `lists the settings of \${process} with their defaults`,
    ],
    ['every table, with its constraints', '.ci/schema.ts', 'dumpFaults'],
  ],
  'docs/settings.md': [
    [
      'Every process reads its settings',
      'test/house/settings.test.ts',
      `lists the settings of \${process} with their defaults`,
    ],
    [
      'Every process reads its settings',
      `${CORE}/settings.test.ts`,
      'are named when they are wrong, all at once, without their values',
    ],
    [
      'every token has 32 characters or more',
      `${CORE}/rpc/server/caller.test.ts`,
      'rejects settings with a short token among several',
    ],
  ],
  'docs/contributing.md': [
    [
      'tries every route',
      'test/gateway/operator/operator.test.ts',
      `\${name} answers the operator as documented, and acts in the operator's name`,
    ],
    [
      'fails while it never reaches the new crash points',
      `${CORE}/model/model.test.ts`,
      'agrees with core and the processor, whatever fails',
    ],
  ],
  'docs/product.md': [
    [
      'Every answer carries `X-Request-Id`',
      'test/gateway/http/log-requests.test.ts',
      `is in the answer to GET \${path} and in its line of the log`,
    ],
    [
      'It is unique among holds, captures, releases and OCTs',
      `${CORE}/rpc/server/answers.test.ts`,
      'is rejected when it is malformed, another merchant’s, or names something else; nothing is stored',
    ],
    [
      'Only an authorized hold can be captured',
      `${CORE}/domain/hold.test.ts`,
      `returns \${answer ?? 'yes'} for \${name}`,
    ],
    ['Lists, streams, notifications and operators never show it', ...SHOWN_ID],
    [
      'Lists, streams, notifications and operators never show it',
      PLAIN_ID,
      'is in no message within a stream, a notification or an answer for operators',
    ],
    ['| `FAILED` | never placed |', `${CORE}/kinds/end.test.ts`, 'is voided once, and the hold stays failed'],
    [
      'core makes an operation KO only after such a fenced answer',
      `${CORE}/kinds/settle-late.test.ts`,
      'needs review after the last inquiry, never guesses, and is still settled by later results',
    ],
    [
      'A refusal creates no operation',
      `${CORE}/rpc/preauthorization/capture-preauthorization.test.ts`,
      'and stores no operation for a refusal',
    ],
    ['does what each answer says charges once and loses nothing', ...OBEDIENT],
    ['a 404 later than 30 s after the 202 is final: it never happened and never will', ...OBEDIENT],
    ['Once an operation is stored, the answer is its stored state', ...CRASH_POINTS],
    ['send results in commit order and skip none', ...STREAM],
    [
      'Addresses of metadata services are always rejected',
      `${CORE}/delivery/destination.test.ts`,
      'never connects to a metadata service, even when the allow-list contains it',
    ],
    [
      'A relayed notification never changes a hold',
      'test/flow/relay.test.ts',
      'changes no hold, whatever it relays about one',
    ],
    [
      'never with body, signature or secret',
      'test/gateway/relay/verify.test.ts',
      'logs, counts and reports a failed verification without body, signature or secret',
    ],
    [
      'it did it; it never does',
      'test/services/sandbox/rpc/inquire.test.ts',
      'finds nothing for tok_sandbox_timeout_lost, and fences it',
    ],
    [
      'drop, rename and narrow no table or column',
      'test/house/migrations.test.ts',
      'do not drop, rename or narrow a table or column',
    ],
  ],
  'docs/architecture.md': [
    ['`npm run check` checks this table', '.ci/core-law.ts', 'coreBreaches'],
    ['`npm run check` checks that (`.ci/import-law.ts`)', '.ci/import-law.ts', 'breaches'],
    [
      'Two commands for one hold never share a statement',
      'test/platform/gather.test.ts',
      'never sends two commands with one key at the same time, together or in two lanes',
    ],
    [
      'Core fails an operation by itself only on DECLINED',
      `${CORE}/kinds/settle-late.test.ts`,
      'needs review after the last inquiry, never guesses, and is still settled by later results',
    ],
    [
      'a failing one does not delay the others',
      'test/operate/sick-endpoints.test.ts',
      'is not delayed by endpoints that accept connections and never answer',
    ],
    ['never a refusal that invites a second charge', ...CRASH_POINTS],
    ['a test kills the process at each of them', ...CRASH_POINTS],
    ['skips nothing, however many cores commit', ...STREAM],
  ],
  'docs/security.md': [
    [
      "not stored: the processor's page takes them",
      'test/services/sandbox/checkout/take-form.test.ts',
      'stores no card number and no capability in ledger or log',
    ],
    [
      'rejected in `tokenId`, `userId`, `merchantReference`, `metadata`, `returnUrl` and idempotency keys',
      `${CORE}/rpc/server/bad-input.test.ts`,
      `is refused by \${method}`,
    ],
    [
      'rejected in `tokenId`, `userId`, `merchantReference`, `metadata`, `returnUrl` and idempotency keys',
      `${CORE}/rpc/idempotency.test.ts`,
      'may contain no card number, whatever the call',
    ],
    [
      'are stored only as hashes or ciphertexts',
      `${CORE}/rpc/preauthorization/create-preauthorization.test.ts`,
      'never stores the preauthorizationId in clear text',
    ],
    [
      'are stored only as hashes or ciphertexts',
      `${CORE}/rpc/merchant/merchants.test.ts`,
      'creates a merchant, shows its key and secret once, and stores neither in clear text',
    ],
    ['| not shown |', 'test/flow/what-is-logged.test.ts', 'is no card number, card token or checkout address'],
    [
      'not shown; settings name what is wrong and quote nothing',
      `${CORE}/settings.test.ts`,
      'are named when they are wrong, all at once, without their values',
    ],
    ['bodies only, no URL', PLAIN_ID, 'is in no URL: no path or query contains it, and no method of core allows GET'],
    ['answers about the one hold; never lists, streams, notifications, operators, browsers', ...SHOWN_ID],
    ['while it is open; never operators', ...SHOWN_ID],
    [
      'lists the roles of each service, and of single methods where they differ',
      `${CORE}/rpc/server/access.test.ts`,
      `allow each role its own methods, and no others (\${door})`,
    ],
    [
      'a line holds only fields of its allow-list',
      'test/flow/what-is-logged.test.ts',
      'is JSON lines with fields of the one list, and an event',
    ],
    [
      'so every gateway knows them',
      'test/gateway/operator/with-core.test.ts',
      'end a session and its streams at every gateway, including one that starts later',
    ],
    [
      'growing penalties that never lock out the right one',
      'test/gateway/operator/session/handlers.test.ts',
      `accepts the right token, \${how}, from an address that has sent wrong ones`,
    ],
    [
      '4xx or 501 each, never another 5xx',
      'test/torture/edge/request-lines.ts',
      'Request lines and heads that are none',
    ],
    ['refuses a package without a hash', '.ci/lock.ts', 'lockFaults'],
  ],
  'docs/grpc.md': [
    ['Watch: every operation, in commit order, none skipped', ...STREAM],
    [
      'the operation was not stored and never will be',
      `${CORE}/rpc/server/answers.test.ts`,
      'is checked by the statement, too: a write that reaches the database too late is not stored',
    ],
    [
      'A call must carry `authorization',
      `${CORE}/rpc/server/access.test.ts`,
      `reject calls without a credential, or with a wrong one (\${door})`,
    ],
  ],
  'docs/high-availability.md': [
    [
      'no operation that was answered 200 or 201 is lost',
      'test/torture/failover.test.ts',
      `costs nothing that was acknowledged (seed \${seed})`,
    ],
    [
      'every notification is delivered',
      'test/torture/failover.test.ts',
      `costs nothing that was acknowledged (seed \${seed})`,
    ],
    [
      'every notification received',
      'test/torture/failover.test.ts',
      `costs nothing that was acknowledged (seed \${seed})`,
    ],
  ],
  'docs/processors.md': [
    ['every ISO 4217 currency', 'test/docs/processors.test.ts', 'says what Describe says of each processor'],
    [
      'refuses an identifier that was never seen, for ever',
      'test/services/sandbox/rpc/inquire.test.ts',
      'makes every late request NOT_PERFORMED with a fence, for ever',
    ],
    [
      '`ListEntries` lists every identifier',
      'test/services/sandbox/rpc/list-entries.test.ts',
      'lists everything in order, with amounts and answers',
    ],
    [
      '0 = every check that could run passed',
      'test/operate/conformance.test.ts',
      'finds no fault with the sandbox, killed ten times, and skips only checks of missing features',
    ],
    ['fenced identifiers never act', ...CONFORMANCE],
    ['never exceed what there is', ...CONFORMANCE],
  ],
  'docs/stripe.md': [
    [
      'never rounded',
      'test/services/stripe/amount.test.ts',
      'are converted back to the same amounts, in every currency',
    ],
  ],
  'docs/runbook.md': [
    [
      'messages are never logged',
      `${CORE}/rpc/server/interceptors.test.ts`,
      'is the class, code and frames of an unexpected error, without its message',
    ],
    [
      'answered as one whose result is not known, never as done',
      'test/platform/database-client.test.ts',
      'does not report a commit as done that stopped waiting for the standby',
    ],
    [
      'loses no request that has an `Idempotency-Key`',
      'test/operate/rolling-restart.test.ts',
      'loses and repeats no keyed request',
    ],
    [
      'discard never does',
      `${CORE}/rpc/notification/notification.test.ts`,
      'forwards a released notification once, and a discarded one never',
    ],
  ],
  'docs/scaling.md': [['Every commit that ends an operation takes one advisory lock', ...STREAM]],
};

/** Advice to readers, names and definitions, which claim nothing about the service. */
export const NO_CLAIMS: Readonly<Record<string, readonly string[]>> = {
  'docs/security.md': [
    '*Held* means that every attack met what it must, that no call of the merchant failed, that every notification came',
    'An endpoint that answers with a byte of its head every half second',
    'set `GATEWAY_ORIGIN` to every origin of the gateway',
  ],
  'docs/verify-webhooks.md': ['Try every live secret', 'Never log the secret'],
  'docs/settings.md': ['every origin at which the gateway is reached'],
  'docs/contributing.md': ['whether always notified', 'that says "every", "never" or "always" of the service'],
  'docs/signed-captures.md': ['that you never use again'],
  'docs/high-availability.md': ['## Never'],
  'docs/runbook.md': [
    'Never cancel or terminate a session that waits, and never restart the primary',
    'Never guess',
    'never by editing rows',
    'Put the new key **last** on every core and worker',
  ],
  'docs/scaling.md': ['If some always wait', 'What never may', '`notification` never by time'],
};
