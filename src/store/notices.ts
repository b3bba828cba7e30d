/** Short messages to every process on the same database. Delivery is not guaranteed. */
export interface Notices {
  publish(channel: string, text: string): Promise<void>;
  subscribe(channel: string, onMessage: (text: string) => void): void;
}
