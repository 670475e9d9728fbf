import type { DescField, DescMessage, Message } from '@bufbuild/protobuf';

/** Only its hash reaches the database, so a malformed one is just not found. */
const HASHED = 'preauthorization_id';

/** Finds texts in a message that contain NUL, which PostgreSQL rejects. Returns field paths. */
export function findNul(schema: DescMessage, message: Message): string[] {
  return schema.fields.flatMap((field) => {
    if (field.name === HASHED) return [];
    const value = (message as unknown as Record<string, unknown>)[field.localName] ?? oneofValue(field, message);
    return findInValue(field, value).map((path) => (path === '' ? field.name : `${field.name}.${path}`));
  });
}

/** Paths below a field's value; '' = the value itself. */
function findInValue(field: DescField, value: unknown): string[] {
  if (typeof value === 'string') return value.includes('\0') ? [''] : [];
  if (value === null || typeof value !== 'object' || value instanceof Uint8Array) return [];
  if (field.fieldKind === 'message') return findNul(field.message, value as Message);
  if (field.fieldKind === 'list') {
    const items = (value as unknown[]).flatMap((item) =>
      field.listKind === 'message' ? findNul(field.message, item as Message) : textWithNul(item),
    );
    return [...new Set(items)];
  }
  if (field.fieldKind !== 'map') return [];
  return Object.entries(value).flatMap(([name, item]) => textWithNul(name + (typeof item === 'string' ? item : '')));
}

function textWithNul(value: unknown): string[] {
  return typeof value === 'string' && value.includes('\0') ? [''] : [];
}

/** A member of a oneof is a property of the oneof. */
function oneofValue({ oneof, localName }: DescField, message: Message): unknown {
  if (!oneof) return undefined;
  const chosen = (message as unknown as Record<string, { case?: string; value?: unknown } | undefined>)[
    oneof.localName
  ];
  return chosen?.case === localName ? chosen.value : undefined;
}
