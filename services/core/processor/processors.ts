import { readChannelTls, tlsFiles } from '../../../platform/tls.ts';
import type { Outcome } from '../domain/outcome.ts';
import type { Step } from './amount-bounds.ts';
import { limitCallers } from './caller-limit.ts';
import type { ContractViolation } from './contract-breaches.ts';
import type { Identities } from './identity-check.ts';
import { openProcessor, type Processor, type ProcessorOptions } from './processor.ts';
import { addressesOf, inSettings, type NamedAddress, type ProcessorsSettings } from './processor-settings.ts';

/** The card processors, by name. */
export type Processors = ReturnType<typeof processorsOf>;

export interface ProcessorsOptions {
  /** Adds to each what a process measures. */
  readonly wrap?: (processor: Processor, name: string) => Processor;
  /** Called for answers that break the contract. */
  readonly onViolation?: (processor: string, violation: ContractViolation) => void;
  /** The calls that this process answers at once. With several processors, a quarter of them may wait for any one. */
  readonly callsInFlight?: number;
  /** Absent = any processor at an address is accepted. */
  readonly identities?: Identities;
}

/** Opens the channels. Throws an Error that names the setting that is wrong, such as that of a TLS file. */
export function openProcessors(settings: ProcessorsSettings, options: ProcessorsOptions = {}): Processors {
  const {
    wrap = (processor) => processor,
    onViolation,
    callsInFlight = Number.POSITIVE_INFINITY,
    identities,
  } = options;
  const addresses = addressesOf(settings);
  const mostCallers = addresses.length > 1 ? Math.ceil(callsInFlight / 4) : Number.POSITIVE_INFINITY;
  const open = (each: NamedAddress) => {
    const report = (violation: ContractViolation) => onViolation?.(each.name, violation);
    const processor = openProcessor({ ...optionsOf(settings, each, addresses), mostCallers, identities, report });
    return [each.name, wrap(processor, each.name)] as const;
  };
  return processorsOf(addresses.map(open));
}

/** Names processors; the first is the default of contracts. */
export function processorsOf(named: readonly (readonly [name: string, processor: Processor])[]) {
  const byName = new Map(named);
  const [first] = named;
  if (!first) throw new Error('settings: PROCESSORS or PROCESSOR_URL is needed');
  return {
    names: [...byName.keys()] as readonly string[],
    /** Time limit of a call to any of them, in milliseconds. */
    timeoutMs: first[1].timeoutMs,
    /** The processor of a stored row. One that is not configured any more never answers. */
    of: ({ processor }: { readonly processor: string }): Processor => byName.get(processor) ?? GONE,
    /** Returns whether any of them would refuse this amount for a hold that has not been read yet. */
    mayBreakStep: (step: Step) => [...byName.values()].some((one) => one.stepBroken(step) !== undefined),
    close(): void {
      for (const processor of byName.values()) processor.close();
    },
  };
}

/** The processors by name, the default first. */
export function ledgersOf(processors: Processors): ReadonlyMap<string, Processor> {
  return new Map(processors.names.map((name) => [name, processors.of({ processor: name })]));
}

/** Divides the rows by processor: one part for each, and a last part for processors no longer configured. */
export function rowsByProcessor({ names }: Pick<Processors, 'names'>) {
  return [...names.map((name) => ({ only: [name], butNot: [] })), { only: null, butNot: names }];
}

/** A processor's own settings replace the common ones; those of TLS all together. */
function optionsOf(
  settings: ProcessorsSettings,
  { name, address }: NamedAddress,
  { length: count }: readonly NamedAddress[],
): Omit<ProcessorOptions, 'mostCallers' | 'identities' | 'report'> {
  const own = inSettings(name);
  const shared = count === 1 ? settings.PROCESSOR_CREDENTIAL : undefined;
  const credential = settings['PROCESSOR_<NAME>_CREDENTIAL']?.[own] ?? shared;
  if (credential === undefined) throw new Error(`settings: PROCESSOR_${own}_CREDENTIAL is not set`);
  const files = {
    ca: settings['PROCESSOR_<NAME>_TLS_CA']?.[own],
    cert: settings['PROCESSOR_<NAME>_TLS_CERT']?.[own],
    key: settings['PROCESSOR_<NAME>_TLS_KEY']?.[own],
    name: settings['PROCESSOR_<NAME>_TLS_NAME']?.[own],
  };
  const hasOwn = Object.values(files).some((file) => file !== undefined);
  const tls = hasOwn
    ? readChannelTls(`PROCESSOR_${own}_TLS`, files)
    : readChannelTls('PROCESSOR_TLS', tlsFiles('PROCESSOR_TLS', settings));
  return { name, address, credential, tls, timeoutMs: settings.PROCESSOR_TIMEOUT_MS };
}

const UNKNOWN: Outcome = { answer: 'UNKNOWN' };

/** A processor no longer configured: outcomes stay unknown until it is configured again, or an operator decides. */
const GONE: Processor = {
  timeoutMs: 0,
  isAvailable: () => false,
  askWhenSilent: async () => undefined,
  admits: () => false,
  amountBreach: () => undefined,
  stepBroken: () => undefined,
  stepsUp: () => false,
  renews: () => false,
  callers: limitCallers(Number.POSITIVE_INFINITY),
  send: async () => UNKNOWN,
  createCheckout: async () => undefined,
  inquire: async () => ({ found: 'NO_ANSWER' }),
  acceptedUntil: async (_, __, said) => said,
  listEntries: async () => {
    throw new Error('the processor is not configured');
  },
  close: () => undefined,
};
