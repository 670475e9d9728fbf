import { parseArgs } from 'node:util';
import { z } from 'zod';
import { plainWords } from '../../platform/plain-words.ts';

export const USAGE = `npm run conformance -- --processor HOST:PORT --profile FILE
  --credential TOKEN     shown to the adapter (default: PROCESSOR_CREDENTIAL)
  --events HOST:PORT     where the adapter reports events (default: 127.0.0.1:50051, core's own address)
  --events-token TOKEN   that the adapter must show with events (default: PROCESSOR_TOKEN; unset: any)
  --only TEXT            runs only checks whose name contains TEXT; may be given several times
  --kills N              kills the adapter N times (default: 5)
`;

const required = z.string('is required').min(1, 'is required');
const address = required.regex(/^.+:\d{1,5}$/, 'must be HOST:PORT');

const OPTIONS = z.object({
  processor: address,
  profile: required,
  /** Empty = the adapter wants none. */
  credential: z.string(),
  events: address,
  /** Empty = any. */
  'events-token': z.string(),
  /** None = all of them. */
  only: z.array(z.string().min(1)).readonly(),
  kills: z.coerce.number().int().min(1).max(1_000),
});

/** What the kit was called with. */
export type Options = Omit<z.output<typeof OPTIONS>, 'events-token'> & { readonly eventsToken: string };

/** Reads the command line. Throws an Error that names every option that is missing or wrong. */
export function readOptions(args: readonly string[], environment: NodeJS.ProcessEnv): Options {
  const options = Object.fromEntries(
    Object.keys(OPTIONS.shape).map((name) => [name, { type: 'string' as const, multiple: name === 'only' }]),
  );
  const { values } = parseArgs({ args: [...args], options });
  const defaults = {
    credential: environment.PROCESSOR_CREDENTIAL ?? '',
    events: '127.0.0.1:50051',
    'events-token': environment.PROCESSOR_TOKEN ?? '',
    only: [],
    kills: 5,
  };
  const parsed = OPTIONS.safeParse({ ...defaults, ...values }, { error: plainWords });
  if (!parsed.success) {
    const faults = parsed.error.issues.map(({ path, message }) => `--${path.join('.')}: ${message}`);
    throw new Error(faults.join('; '));
  }
  const { 'events-token': eventsToken, ...others } = parsed.data;
  return { ...others, eventsToken };
}
