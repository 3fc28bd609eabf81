// A thread that sends each message back: `bun run commit`.

declare const self: Worker

self.onmessage = ({ data }: MessageEvent<string>) => self.postMessage(data)
