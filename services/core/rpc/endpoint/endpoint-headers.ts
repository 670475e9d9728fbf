/** Names of headers that HTTP, proxies and this service set, or that would change how a request is read. */
const OWNED: ReadonlySet<string> = new Set([
  ...[
    'accept-encoding',
    'connection',
    'content-encoding',
    'content-length',
    'content-type',
    'cookie',
    'date',
    'expect',
  ],
  ...['forwarded', 'host', 'http2-settings', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'via'],
  ...['traceparent', 'tracestate', 'user-agent', 'x-service-signature'],
]);

/** Beginnings of such names. */
const OWNED_PREFIXES = ['proxy-', 'webhook-', 'x-forwarded-', 'x-holdfast-', 'x-relay-'];

/** Why an endpoint cannot have a header, one of `names`; undefined = it can. Names are compared in lower case. */
export function faultOfHeader(name: string, value: string, names: readonly string[]): string | undefined {
  const lower = name.toLowerCase();
  if (OWNED.has(lower) || OWNED_PREFIXES.some((prefix) => lower.startsWith(prefix))) {
    return 'is set by HTTP or by Holdfast';
  }
  if (!/^[\x21-\x7E]([\x20-\x7E]*[\x21-\x7E])?$/.test(value)) {
    return 'must have a value of visible ASCII characters, with spaces only within';
  }
  return names.filter((other) => other.toLowerCase() === lower).length > 1 ? 'is given more than once' : undefined;
}
