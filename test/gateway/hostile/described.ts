/** The parts of the OpenAPI document from which faults are drawn. */
import assert from 'node:assert/strict';
import type { ProblemCode } from '../../../gateway/http/refusals.ts';

/** A JSON schema of the document. */
export interface Schema {
  readonly type?: string;
  readonly $ref?: string;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly additionalProperties?: unknown;
  readonly enum?: readonly string[];
  readonly examples?: readonly unknown[];
  readonly pattern?: string;
  readonly format?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly maximum?: number;
}

export interface Parameter {
  readonly in: 'query' | 'header' | 'path';
  readonly name: string;
  readonly required?: boolean;
  readonly schema: Schema;
}

/** An operation of the document. */
export interface Described {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: {
    readonly required: boolean;
    readonly content: { readonly 'application/json': { readonly schema: Schema } };
  };
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, Content>> }>>;
}

interface Content {
  readonly examples?: Readonly<Partial<Record<ProblemCode, unknown>>>;
}

/** The codes of an operation's refusals with their HTTP status, as the document has them. */
export function refusalsOf({ responses }: Described): ReadonlyMap<ProblemCode, number> {
  const entries = Object.entries(responses).flatMap(([status, { content }]) =>
    Object.keys(content?.['application/problem+json']?.examples ?? {}).map(
      (code) => [code as ProblemCode, Number(status)] as const,
    ),
  );
  return new Map(entries);
}

/** The code of what a path names and is unknown. */
export function unknownOf(described: Described): ProblemCode {
  const [code, ...others] = [...refusalsOf(described)].filter(([, status]) => status === 404);
  assert(code && others.length === 0, 'what a path names is unknown in one way');
  return code[0];
}

/** Values of a path's parameters, by name. */
export type Params = Readonly<Record<string, string>>;

/** The path with these values. */
export function filled(template: string, params: Params): string {
  return template.replace(/\{(\w+)\}/g, (_, name) => params[name] ?? assert.fail(name));
}
