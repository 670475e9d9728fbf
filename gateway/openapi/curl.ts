/** The command that sends an example, in the words of the document. */
import { PLACEHOLDER } from './introduction.ts';
import type { Operation } from './operation.ts';

/** The credential that each scheme sends, as a header. Shell variables stand for the secrets. */
const CREDENTIALS: Readonly<Record<string, string>> = {
  apiKey: 'Authorization: Bearer $API_KEY',
  operator: 'Authorization: Bearer $OPERATOR_TOKEN',
  serviceSignature: 'X-Service-Signature: $SIGNATURE',
};

/** A curl command for the example `name` of an operation. */
export function curlOf(method: string, path: string, operation: Operation, name: string): string {
  const given = (place: string) =>
    (operation.parameters ?? []).flatMap((parameter) => {
      const value = parameter.examples?.[name]?.value;
      return parameter.in === place && value !== undefined ? [[parameter.name, String(value)] as const] : [];
    });
  const inPath = new Map(given('path'));
  const target = path.replace(/\{(\w+)\}/g, (_, parameter: string) => inPath.get(parameter) ?? `<${parameter}>`);
  const query = new URLSearchParams(Object.fromEntries(given('query'))).toString();
  const body = operation.requestBody?.content['application/json']?.examples?.[name]?.value;
  const [scheme = ''] = Object.keys(operation.security?.[0] ?? {});
  const credential = CREDENTIALS[scheme];
  const parts = [
    `curl${method === 'get' ? '' : ` -X ${method.toUpperCase()}`} "${PLACEHOLDER}${target}${query && `?${query}`}"`,
    ...(credential === undefined ? [] : [`-H "${credential}"`]),
    ...given('header')
      .filter(([header]) => header !== 'X-Service-Signature')
      .map(([header, value]) => `-H ${quoted(`${header}: ${value}`)}`),
    ...(body === undefined ? [] : [`-H 'Content-Type: application/json'`, `-d ${quoted(JSON.stringify(body))}`]),
  ];
  return parts.join(' \\\n  ');
}

/** A word of the shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
