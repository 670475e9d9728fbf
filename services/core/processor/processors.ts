import type { Outcome } from '../domain/operation.ts';
import { openProcessor, type Processor, type ProcessorSettings } from './processor.ts';

/** The card processors, by name. */
export interface Processors {
  /** The first is the default. */
  readonly names: readonly string[];
  /** How long a call to any of them may take, in milliseconds. */
  readonly timeoutMs: number;
  /** The processor that a row or contract names; '' = the default. One that is not configured any more never answers. */
  of(named: { readonly processor: string }): Processor;
  close(): void;
}

export interface ProcessorsSettings extends ProcessorSettings {
  /** name=host:port, joined by commas; the first is the default. */
  readonly PROCESSORS?: readonly NamedAddress[] | undefined;
  /** The only processor, when PROCESSORS is not set. */
  readonly PROCESSOR_URL?: string | undefined;
}

export interface NamedAddress {
  readonly name: string;
  readonly address: string;
}

/** The name of the only processor, of PROCESSOR_URL; with PROCESSORS it means the first. */
const DEFAULT_NAME = 'default';

/** Opens the channels. `wrap` adds to each what a process measures. Throws an Error that names the setting that is wrong. */
export function openProcessors(
  settings: ProcessorsSettings,
  wrap: (processor: Processor, name: string) => Processor = (processor) => processor,
): Processors {
  return processorsOf(
    addressesOf(settings).map(({ name, address }) => [name, wrap(openProcessor(settings, address), name)]),
  );
}

/** Names processors; the first is the default. */
export function processorsOf(named: readonly (readonly [name: string, processor: Processor])[]): Processors {
  const byName = new Map(named);
  const [first] = named;
  if (!first) throw new Error('settings: PROCESSORS or PROCESSOR_URL is needed');
  const [, standard] = first;
  return {
    names: [...byName.keys()],
    timeoutMs: standard.timeoutMs,
    of({ processor }) {
      return byName.get(processor) ?? (processor === '' || processor === DEFAULT_NAME ? standard : GONE);
    },
    close() {
      for (const processor of byName.values()) processor.close();
    },
  };
}

/** The processors by name, the default first. */
export function ledgersOf(processors: Processors): ReadonlyMap<string, Processor> {
  return new Map(processors.names.map((name) => [name, processors.of({ processor: name })]));
}

/** Which rows are whose: each processor has its own by name, the default also those that name none, or one that is gone. */
export function rowsOf({ names }: Processors, name: string): { only: string | null; butNot: readonly string[] } {
  return name === names[0] ? { only: null, butNot: names.slice(1) } : { only: name, butNot: [] };
}

function addressesOf({ PROCESSORS: named, PROCESSOR_URL: only }: ProcessorsSettings): readonly NamedAddress[] {
  if (named) return named;
  return only === undefined ? [] : [{ name: DEFAULT_NAME, address: only }];
}

/** Parses `sandbox=127.0.0.1:50061,stripe=127.0.0.1:50062`. Throws when it is something else, or a name comes twice. */
export function parseProcessors(text: string): NamedAddress[] {
  const named = text.split(',').map((part) => {
    const [, name, address] = /^\s*([a-z][a-z0-9_-]{0,31})=([^/=\s]+:\d+)\s*$/.exec(part) ?? [];
    if (name === undefined || address === undefined) throw new Error('not name=host:port');
    return { name, address };
  });
  if (new Set(named.map(({ name }) => name)).size < named.length) throw new Error('a name comes twice');
  return named;
}

const UNKNOWN: Outcome = { answer: 'UNKNOWN' };

/** A processor that is not configured: what was sent to it stays unknown until it is again, or an operator decides. */
const GONE: Processor = {
  timeoutMs: 0,
  isAvailable: () => false,
  admits: () => false,
  send: async () => UNKNOWN,
  createCheckout: async () => undefined,
  inquire: async () => ({ found: 'NO_ANSWER' }),
  listEntries: async () => {
    throw new Error('the processor is not configured');
  },
  close: () => undefined,
};
