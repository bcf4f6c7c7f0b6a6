/**
 * Prints the software bill of materials in CycloneDX: the packages that the service runs on, from the lock file.
 *
 * `npm sbom --omit=dev` leaves out every package that a development tool needs as well, such as viem. So this takes the
 * whole bill, and leaves out what npm itself marks as only for development, and the Node of a clone among the optional packages.
 */
import { execFileSync } from 'node:child_process';
import packageDescription from '#package' with { type: 'json' };

interface Component {
  readonly 'bom-ref': string;
  readonly name: string;
  readonly properties?: readonly { readonly name: string; readonly value: string }[];
}

interface Bill {
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
  readonly metadata: { readonly component: object };
}

function isOfService({ name, properties = [] }: Component): boolean {
  if (properties.some((property) => property.name === 'cdx:npm:package:development')) return false;
  // TypeScript, for one: viem names it as an optional peer, so npm does not mark it.
  if (name in packageDescription.devDependencies) return false;
  return name.includes('/anvil-') || !(name in packageDescription.optionalDependencies);
}

const words = ['sbom', '--package-lock-only', '--sbom-format=cyclonedx'];
const whole = JSON.parse(
  execFileSync('npm', words, {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'inherit'],
  }),
) as Bill;
const components = whole.components.filter(isOfService);
const kept = new Set([...components.map((component) => component['bom-ref']), whole.dependencies[0]?.ref]);
const { name, version } = packageDescription;
const bill = {
  ...whole,
  metadata: {
    ...whole.metadata,
    component: { ...whole.metadata.component, name, version, type: 'application' },
  },
  components,
  dependencies: whole.dependencies
    .filter(({ ref }) => kept.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((each) => kept.has(each)) })),
};
console.log(JSON.stringify(bill, null, 2));
