/** What package.json promises against what the sources import. */
import { readFile } from 'node:fs/promises';
import { ROOT, type Source } from './sources.ts';

/** Packages that no source imports, and what each of them is for. */
const UNIMPORTED: Readonly<Record<string, string>> = {
  '@biomejs/biome': 'lint and format, in npm run check',
  '@bufbuild/buf': 'lints and generates the contract',
  '@bufbuild/protoc-gen-es': 'run by buf',
  '@types/koa': 'types',
  '@types/mocha': 'types',
  '@types/node': 'types',
  '@types/pg': 'types',
  'mikro-orm': 'prescribed: the ORM under its plain name; what is imported comes from @mikro-orm',
  mocha: 'runs the tests',
  typescript: 'tsc',
};

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies: Readonly<Record<string, string>>;
}

/** Returns one line for each package that is missing, unused, not pinned, or in the wrong list. */
export async function packageFaults(sources: readonly Source[]): Promise<string[]> {
  const manifest = JSON.parse(await readFile(`${ROOT}package.json`, 'utf8')) as Manifest;
  const declared = { ...manifest.dependencies, ...manifest.devDependencies, ...manifest.optionalDependencies };
  const unpinned = Object.entries(declared).filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version));
  const used = importedPackages(sources);
  const shipped = importedPackages(sources.filter(({ path }) => /^(services|gateway|proto)\//.test(path)));
  const expected = new Set([...used, ...Object.keys(UNIMPORTED), ...Object.keys(manifest.optionalDependencies)]);
  return [
    ...unpinned.map(([name, version]) => `${name} ${version} is not pinned`),
    ...[...used].filter((name) => !Object.hasOwn(declared, name)).map((name) => `${name} is imported, not declared`),
    ...Object.keys(declared)
      .filter((name) => !expected.has(name))
      .map((name) => `${name} is declared, not imported`),
    ...[...shipped]
      .filter((name) => Object.hasOwn(manifest.devDependencies, name))
      .map((name) => `${name} is imported by the product and declared for development only`),
  ];
}

function importedPackages(sources: readonly Source[]): Set<string> {
  const imports = sources.flatMap((source) => source.imports);
  return new Set(imports.filter(({ specifier }) => !/^(\.|node:)/.test(specifier)).map(({ target }) => target));
}
