/**
 * Answers made of core's messages. Names, types and descriptions of their fields are the contract's (proto/holdfast/v1
 * with its comments); an answer says only where it differs. What is added to a message is answered, too, unless the
 * answer leaves it out.
 */
import type { DescField, DescMessage, MessageShape } from '@bufbuild/protobuf';
import { z } from 'zod';
import { ProcessorErrorSchema } from '../../proto/gen/holdfast/v1/payment_pb.js';
import { answered, some } from './answer-fields.ts';
import { commentOn, type JsonValue, jsonField, jsonName } from './contract-field.ts';

/** A message as JSON. A field that has no value is absent. */
export type Json = Readonly<Record<string, unknown>>;

/** The JSON form of a message: its schema, and the function that makes it. */
export interface Answer<M = never> {
  readonly schema: z.ZodObject;
  /** Core always answers with the message, though the types of protobuf do not say so. */
  readonly json: (message: M | undefined) => Json;
}

interface Differences<M> {
  /** A description; unset: the contract's comment on the message. */
  readonly about?: string;
  /** The fields that are shown; unset: all. */
  readonly only?: readonly (keyof M)[];
  /** The fields that are not. */
  readonly without?: readonly (keyof M)[];
  /** Answers that show the fields which are messages. */
  readonly parts?: { readonly [Name in keyof M]?: Answer };
  /** By its name in JSON: what differs from the contract, or is not in it. */
  readonly own?: Readonly<Record<string, Partial<Field<M>>>>;
}

interface Field<M> {
  readonly schema: z.ZodType;
  readonly read: (message: M) => unknown;
}

/** Derives an answer from a message's descriptor. `id` names it in the document; without, it is part of another. */
export function answer<D extends DescMessage>(
  id: string | undefined,
  desc: D,
  differences: Differences<MessageShape<D>> = {},
): Answer<MessageShape<D>> {
  const fields = Object.entries(fieldsOf(desc, differences));
  const shape = Object.fromEntries(fields.map(([name, { schema }]) => [name, schema]));
  const { about: description = commentOn(desc) } = differences;
  return {
    schema: z.object(shape).meta(id === undefined ? { description } : { id, description }),
    json: (message) => {
      const given = answered(message);
      const json: Record<string, unknown> = {};
      for (const [name, { read }] of fields) {
        const value = read(given);
        if (value !== undefined) json[name] = value;
      }
      return json;
    },
  };
}

type Fields<M> = Record<string, Partial<Field<M>>>;

function fieldsOf<D extends DescMessage>(
  desc: D,
  { only, without = [], parts = {}, own = {} }: Differences<MessageShape<D>>,
): Record<string, Field<MessageShape<D>>> {
  const fields: Fields<MessageShape<D>> = {};
  for (const field of desc.fields) {
    const name = field.localName as keyof MessageShape<D>;
    if (without.includes(name) || (only && !only.includes(name))) continue;
    if (field.message === ProcessorErrorSchema) Object.assign(fields, reasonFields(name));
    else fields[jsonName(field)] = fieldOf(name, jsonField(field, parts[name]));
  }
  for (const [name, differing] of Object.entries(own)) fields[name] = { ...fields[name], ...differing };
  return fields as Record<string, Field<MessageShape<D>>>;
}

function fieldOf<M>(name: keyof M, { schema, json }: JsonValue): Field<M> {
  return { schema, read: (message) => (message[name] === undefined ? undefined : json(message[name] as never)) };
}

/** Why the processor refused: a message that stands among the other fields in JSON. */
function reasonFields<M>(name: keyof M): Fields<M> {
  const { code, message } = ProcessorErrorSchema.field;
  const within = (part: DescField) => {
    const { schema, json } = jsonField(part);
    return { schema, read: (whole: M) => whole[name] && json((whole[name] as never)[part.localName]) };
  };
  return { processorCode: within(code as DescField), processorMessage: within(message as DescField) };
}

/** A page of a list (AIP-158), from core's page, whose items are its field `name`. */
export function pageOf<M, N extends string>(id: string | undefined, description: string, items: Answer<M>, name: N) {
  const nextPageToken = z
    .string()
    .describe('pageToken of the next page; absent on the last. A page that has fewer items, or none, may have one');
  return {
    schema: z
      .object({ items: z.array(items.schema), nextPageToken: nextPageToken.optional() })
      .meta(id === undefined ? {} : { id, description }),
    json: (page: { readonly [Name in N]: readonly M[] } & { readonly nextPageToken: string }) => ({
      items: page[name].map(items.json),
      nextPageToken: some(page.nextPageToken),
    }),
  };
}
