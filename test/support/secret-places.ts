/** Places where contributors keep secrets, including those inside folders that the image copies. */
export const secretPlaces = ['.env', 'data/secrets.json', 'contracts/cache/notes', '.git/config'] as const;
