/** A call, and where it goes. */
export interface Call {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body?: object | undefined;
  /** KEYED: under its key. ONCE: only after an answer that says that nothing was done. */
  readonly repeatable: 'ALWAYS' | 'KEYED' | 'ONCE';
  /** Only with KEYED. */
  readonly idempotencyKey?: string | undefined;
  /** Headers that sign one try. */
  readonly sign?: ((body: string, idempotencyKey: string) => Record<string, string>) | undefined;
}

/** Options of a call. */
export interface CallOptions {
  /** Time limit of the call with all its tries, milliseconds; default 60 000. */
  readonly timeoutMs?: number | undefined;
  /** Ends it earlier. */
  readonly signal?: AbortSignal | undefined;
}

/** One try, for a log of the caller's own: never a key, a body or a query. */
export interface TryReport {
  readonly method: string;
  readonly path: string;
  readonly try: number;
  /** 0 = no answer. */
  readonly status: number;
  readonly code?: string | undefined;
  readonly requestId?: string | undefined;
  readonly tookMs: number;
}

export interface Connection {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly fetch: typeof globalThis.fetch;
  readonly onRequest?: ((report: TryReport) => void) | undefined;
}
