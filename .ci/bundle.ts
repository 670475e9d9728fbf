/** Bundles the processes that the quickstart starts (services/quickstart/bundles.ts), after `npm ci`. */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Plugin } from 'esbuild';
import { BUNDLES, digestOf, type Manifest } from '../services/quickstart/bundles.ts';

const ENTRIES = [
  'services/core/index.ts',
  'services/core/worker.ts',
  'services/merchant/index.ts',
  'services/sandbox/index.ts',
  'services/stripe/index.ts',
  'gateway/index.ts',
];

/** These read files that lie beside their code. */
const NOT_BUNDLED = ['@grpc/proto-loader', '@grpc/reflection', 'grpc-health-check'];
/** Optional dependencies of a dependency, which are not installed. */
const NOT_INSTALLED = ['pg-native'];

/** Our code finds files beside it by import.meta, which in a bundle would be the bundle's own. */
const ownPaths: Plugin = {
  name: 'own-paths',
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      const contents = (await readFile(path, 'utf8'))
        .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href))
        .replaceAll('import.meta.dirname', JSON.stringify(dirname(path)));
      return { contents, loader: 'ts' };
    });
  },
};

/**
 * Absent from an installation without development packages, and useless without its program, which is an optional
 * package for each platform: then the sources are run.
 */
const esbuild = await loadWorking().catch(() => undefined);
if (esbuild !== undefined) {
  process.chdir(fileURLToPath(new URL('..', import.meta.url)));
  await rm(BUNDLES, { recursive: true, force: true });
  const { metafile } = await esbuild.build({
    entryPoints: ENTRIES,
    outbase: '.',
    outdir: BUNDLES,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    metafile: true,
    format: 'esm',
    platform: 'node',
    target: `node${process.versions.node}`,
    external: [...NOT_BUNDLED, ...NOT_INSTALLED],
    plugins: [ownPaths],
    // CommonJS dependencies load Node's own modules by `require`.
    banner: {
      js: `import { createRequire as requireFor } from 'node:module'; const require = requireFor(import.meta.url);`,
    },
    logLevel: 'warning',
  });
  const ours = Object.keys(metafile.inputs).filter((path) => !path.includes('node_modules/'));
  const inputs = [...ours.sort(), '.ci/bundle.ts', 'package-lock.json'];
  const manifest: Manifest = { inputs, digest: digestOf(inputs) };
  await writeFile(`${BUNDLES}/manifest.json`, JSON.stringify(manifest));
}

async function loadWorking() {
  const loaded = await import('esbuild');
  await loaded.transform('');
  return loaded;
}
