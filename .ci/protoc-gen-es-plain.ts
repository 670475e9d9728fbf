/**
 * A plugin of buf: protoc-gen-es, after each shared rule of proto/holdfast/rules has been replaced by the standard
 * rules that its expression stands for. The validator checks those by its own code, which is much faster than an
 * expression, and says which bound is broken. An expression of another form than below stays one.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import {
  create,
  createFileRegistry,
  type DescExtension,
  type DescMessage,
  fromBinary,
  getExtension,
  getOption,
  hasExtension,
  setExtension,
  toBinary,
} from '@bufbuild/protobuf';
import {
  CodeGeneratorRequestSchema,
  type DescriptorProto,
  DurationSchema,
  FileDescriptorSetSchema,
} from '@bufbuild/protobuf/wkt';
import type { FieldRules, PredefinedRules, Rule, StringRules } from '../proto/gen/buf/validate/validate_pb.js';

const request = fromBinary(CodeGeneratorRequestSchema, readFileSync(0));
const registry = createFileRegistry(create(FileDescriptorSetSchema, { file: request.protoFile }));
const FIELD = registry.getExtension('buf.validate.field');
const PREDEFINED = registry.getExtension('buf.validate.predefined');

if (FIELD && PREDEFINED) {
  for (const { messageType } of [...request.protoFile, ...request.sourceFileDescriptors]) {
    for (const message of messageType) replaceIn(message, FIELD, PREDEFINED);
  }
}
const { stdout, status } = spawnSync('protoc-gen-es', {
  input: toBinary(CodeGeneratorRequestSchema, request),
  stdio: ['pipe', 'pipe', 'inherit'],
  maxBuffer: 2 ** 28,
});
process.stdout.write(stdout);
process.exitCode = status ?? 1;

function replaceIn({ field, nestedType }: DescriptorProto, rulesOf: DescExtension, predefined: DescExtension): void {
  for (const { options } of field) {
    if (!options || !hasExtension(options, rulesOf)) continue;
    const rules = getExtension(options, rulesOf) as FieldRules;
    if (replaceShared(rules, predefined)) setExtension(options, rulesOf, rules as never);
  }
  for (const nested of nestedType) replaceIn(nested, rulesOf, predefined);
}

/** Replaces the shared rules among these. Returns whether there were some. */
function replaceShared(rules: FieldRules, predefined: DescExtension): boolean {
  const { value } = rules.type;
  const unknown = value?.$unknown ?? [];
  if (value === undefined || unknown.length === 0) return false;
  delete value.$unknown;
  for (const { no } of unknown) {
    const shared = registry.getExtensionFor(messageNamed(value.$typeName), no);
    assert(shared, `${value.$typeName} has no shared rule of the number ${no}`);
    for (const rule of (getOption(shared, predefined) as PredefinedRules).cel) apply(rule, rules);
  }
  // What is left of rules that are all expressions is nothing.
  if (Object.keys(value).every((key) => key.startsWith('$'))) rules.type = { case: undefined };
  return true;
}

/** Adds the standard rules of an expression, or the expression itself. */
function apply(rule: Rule, rules: FieldRules): void {
  const settings = settingsOf(rule.expression, rules.type);
  if (settings) for (const set of settings) set();
  else rules.cel.push(rule);
}

type Rules = FieldRules['type'];
type Settings = readonly (() => void)[];

/** What sets the standard rules of an expression; undefined when some part of it is of another form. */
function settingsOf(expression: string, rules: Rules): Settings | undefined {
  const [, name, condition] = /^this\.all\((\w+), (.+)\)$/.exec(expression) ?? [];
  if (name !== undefined && condition !== undefined) return settingsOfAll(name, condition, rules);
  const settings = expression.split(' && ').map((part) => settingOf(part, rules));
  return settings.every((set) => set !== undefined) ? settings : undefined;
}

/** Of the keys of a map, or of its values. */
function settingsOfAll(name: string, condition: string, rules: Rules): Settings | undefined {
  if (rules.case !== 'map') return undefined;
  const part = condition.includes(`this[${name}].`) ? 'values' : 'keys';
  const subject = part === 'values' ? `this[${name}].` : `${name}.`;
  const ofTexts = create(messageNamed('buf.validate.FieldRules')) as FieldRules;
  ofTexts.type = { case: 'string', value: create(messageNamed('buf.validate.StringRules')) as StringRules };
  const settings = settingsOf(condition.replaceAll(subject, 'this.'), ofTexts.type);
  return settings && [...settings, () => Object.assign(rules.value, { [part]: ofTexts })];
}

/** Of one comparison. */
function settingOf(part: string, rules: Rules): (() => void) | undefined {
  const [, bounded, sign, bound] = /^(this|this\.size\(\)) (>=|<=) (-?\d+|duration\('\d+s'\))$/.exec(part) ?? [];
  const [, pattern] = /^this\.matches\(r?'([^']+)'\)$/.exec(part) ?? [];
  if (pattern !== undefined && rules.case === 'string') return () => Object.assign(rules.value, { pattern });
  if (bound === undefined) return undefined;
  if (bounded === 'this.size()') {
    const names = rules.case === 'string' ? ['minLen', 'maxLen'] : ['minPairs', 'maxPairs'];
    if (rules.case !== 'string' && rules.case !== 'map') return undefined;
    return () => Object.assign(rules.value, { [names[sign === '>=' ? 0 : 1] as string]: BigInt(bound) });
  }
  const value = boundOf(bound, rules.case);
  if (value === undefined) return undefined;
  const set = sign === '>=' ? { greaterThan: { case: 'gte', value } } : { lessThan: { case: 'lte', value } };
  return () => Object.assign(rules.value as object, set);
}

function boundOf(bound: string, kind: Rules['case']): unknown {
  const seconds = /^duration\('(\d+)s'\)$/.exec(bound)?.[1];
  if (kind === 'duration') return seconds && create(DurationSchema, { seconds: BigInt(seconds) });
  if (seconds !== undefined) return undefined;
  return { int32: Number, int64: BigInt }[kind as string]?.(bound);
}

function messageNamed(name: string): DescMessage {
  const message = registry.getMessage(name);
  assert(message, `${name} is not in the contract`);
  return message;
}
