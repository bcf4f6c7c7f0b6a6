/**
 * The two functions that the certificate library's dependency container looks for when it is loaded. It asks only
 * for constructor parameters, and none of the library's classes has any, so "nothing is known" is the whole answer.
 */
interface MetadataReflection {
  getMetadata?: () => undefined;
  getOwnMetadata?: () => undefined;
}

const known: object = Reflect;
const reflection: MetadataReflection = known;
reflection.getMetadata ??= () => undefined;
reflection.getOwnMetadata ??= () => undefined;

export {};
