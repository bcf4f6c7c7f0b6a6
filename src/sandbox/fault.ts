/** How a part of the sandbox behaves: as it should, not at all, or too late. Forgotten at a restart. */
export type Fault = 'up' | 'down' | 'slow';
