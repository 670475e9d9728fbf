/** Holds requests against Adyen's own OpenAPI document, where that is there. */
import { foreignFile } from '../../foreign.ts';

interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly nullable?: boolean;
  readonly enum?: readonly unknown[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema;
  readonly items?: Schema;
  readonly oneOf?: readonly Schema[];
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
}

interface Document {
  readonly paths: Readonly<
    Record<string, Record<string, { requestBody: { content: Record<string, { schema: Schema }> } }>>
  >;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

const checkout = foreignFile<Document>('adyen/checkout-v72.json');

/** What is wrong with the body of a POST, by field; nothing where the document is absent. */
export function violationsOf(path: string, body: unknown): string[] {
  if (!checkout) return [];
  const template = Object.keys(checkout.paths).find((each) =>
    new RegExp(`^${each.replace(/\{\w+\}/g, '[^/]+')}$`).test(path),
  );
  const schema = template && checkout.paths[template]?.post?.requestBody.content['application/json']?.schema;
  return schema ? breaches(schema, body, 'body') : [`${path} is no path of Adyen's`];
}

function breaches(given: Schema, value: unknown, at: string): string[] {
  const schema = given.$ref ? (checkout?.components.schemas[given.$ref.split('/').at(-1) ?? ''] ?? {}) : given;
  if (value === null) return schema.nullable ? [] : [`${at} is null`];
  if (schema.oneOf) {
    const each = schema.oneOf.map((one) => breaches(one, value, at));
    return each.some((found) => found.length === 0) ? [] : [`${at} is none of ${each.length}`];
  }
  if (schema.enum && !schema.enum.includes(value)) return [`${at} is not in the enum`];
  if (typeof value === 'string') return brokenText(schema, value, at);
  if (schema.type === 'integer') return Number.isSafeInteger(value) ? [] : [`${at} is no integer`];
  if (schema.type === 'array') {
    if (!Array.isArray(value)) return [`${at} is no array`];
    return value.flatMap((item, index) => breaches(schema.items ?? {}, item, `${at}[${index}]`));
  }
  if (schema.type === 'object' || schema.properties) return brokenFields(schema, value, at);
  return typeof value === schema.type ? [] : [`${at} is a ${typeof value}`];
}

function brokenText(
  { type, minLength = 0, maxLength = Number.POSITIVE_INFINITY, pattern }: Schema,
  value: string,
  at: string,
) {
  const { length } = [...value];
  const isWrong = length < minLength || length > maxLength || (pattern && !new RegExp(pattern, 'u').test(value));
  return type === 'string' && !isWrong ? [] : [`${at} is no such text`];
}

function brokenFields({ properties = {}, required = [], additionalProperties }: Schema, value: unknown, at: string) {
  if (typeof value !== 'object' || Array.isArray(value)) return [`${at} is no object`];
  const fields = value as Record<string, unknown>;
  const missing = required.filter((name) => fields[name] === undefined).map((name) => `${at}.${name} is missing`);
  const wrong = Object.entries(fields).flatMap(([name, field]) => {
    const schema = properties[name] ?? additionalProperties;
    return schema ? breaches(schema, field, `${at}.${name}`) : [`${at}.${name} is unknown`];
  });
  return [...missing, ...wrong];
}
