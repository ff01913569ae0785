-- What the library ghc-events makes of an event log: every event must decode, its state machines of
-- threads and tasks must accept the log, and the figures of collections are printed, one a line.
-- `.ci/interop` compares them with the run's own. Built with: ghc -O0 -package ghc-events Main.hs
module Main (main) where

import Control.Monad (unless)
import qualified Data.ByteString.Lazy as Lazy
import qualified Data.IntMap.Strict as IntMap
import Data.List (foldl')
import Data.Maybe (fromMaybe)
import Data.Word (Word64)
import GHC.RTS.Events
import GHC.RTS.Events.Analysis
import GHC.RTS.Events.Analysis.Capability
import GHC.RTS.Events.Analysis.Thread
import GHC.RTS.Events.Incremental (readEvents, readHeader)
import System.Environment (getArgs)
import System.Exit (die)

-- | The figures of a log.
data Figures = Figures
    { collections, parallel, moved, elapsed, live, sizes, runs :: !Word64
    , allotted :: !(IntMap.IntMap Word64)
    , started :: !(IntMap.IntMap Word64)
    , leads :: !(IntMap.IntMap Bool)
    , wrong :: [String]
    }

-- | Adds an event; they come in the order of the file.
add :: Figures -> Event -> Figures
add all' (Event time info (Just cap)) = case info of
    StartGC
        | IntMap.member cap (started all') -> complain "GC_START in a collection"
        | otherwise -> all' {started = IntMap.insert cap time (started all'), leads = IntMap.insert cap False (leads all')}
    GCStatsGHC {copied = bytes, parNThreads = threads}
        | IntMap.member cap (started all') ->
            all'
                { collections = collections all' + 1
                , parallel = parallel all' + (if threads > 1 then 1 else 0)
                , moved = moved all' + bytes
                , leads = IntMap.insert cap True (leads all')
                }
        | otherwise -> complain "GC_STATS_GHC outside of a collection"
    EndGC -> case IntMap.lookup cap (started all') of
        Nothing -> complain "GC_END outside of a collection"
        Just start ->
            let led = fromMaybe False (IntMap.lookup cap (leads all'))
            in all' {started = IntMap.delete cap (started all'), elapsed = elapsed all' + (if led then time - start else 0)}
    HeapAllocated {allocBytes = bytes} -> all' {allotted = IntMap.insert cap bytes (allotted all')}
    HeapLive {liveBytes = bytes} -> all' {live = max bytes (live all')}
    HeapSize {} -> all' {sizes = sizes all' + 1}
    RunThread {} -> all' {runs = runs all' + 1}
    _ -> all'
  where
    complain text = all' {wrong = (text ++ " at " ++ show time ++ " on capability " ++ show cap) : wrong all'}
add all' (Event time info Nothing) = case info of
    StartGC -> outside
    EndGC -> outside
    HeapAllocated {} -> outside
    GCStatsGHC {} -> outside
    _ -> all'
  where
    outside = all' {wrong = ("an event of a collection outside of a capability at " ++ show time) : wrong all'}

-- | The state machines that reject the events.
rejections :: [Event] -> [String]
rejections events =
    [ name ++ " reject the log at " ++ take 200 place
    | (name, Just place) <-
        [ ("threads on capabilities", rejected capabilityThreadRunMachine)
        , ("pools of threads", rejected capabilityThreadPoolMachine)
        , ("states of threads", rejected (routeM capabilityThreadRunMachine capabilityThreadIndexer (refineM evSpec threadMachine)))
        , ("pools of tasks", rejected capabilityTaskPoolMachine)
        , ("tasks", rejected capabilityTaskOSMachine)
        ]
    ]
  where
    rejected :: Machine state Event -> Maybe String
    rejected machine = either (Just . show . snd) (const Nothing) (validate machine events)

main :: IO ()
main = do
    files <- getArgs
    mapM_ checkFile files

checkFile :: FilePath -> IO ()
checkFile file = do
    bytes <- Lazy.readFile file
    (events, failure) <- either (die . ((file ++ ": ") ++)) (pure . uncurry readEvents) (readHeader bytes)
    let figures = foldl' add (Figures 0 0 0 0 0 0 0 IntMap.empty IntMap.empty IntMap.empty []) events
    print (length events) >> maybe (pure ()) (die . ((file ++ ": ") ++)) failure
    let unknown = [number | UnknownEvent number <- map evSpec events]
    let problems = reverse (wrong figures) ++ rejections (sortEvents events) ++ ["unknown event types " ++ show unknown | not (null unknown)]
    unless (null problems) (die (unlines (map ((file ++ ": ") ++) (take 10 problems))))
    mapM_
        (\(name, figure) -> putStrLn (name ++ " " ++ show figure))
        [ ("num_GCs", collections figures)
        , ("par_GCs", parallel figures)
        , ("copied_bytes", moved figures)
        , ("bytes_allocated", sum (IntMap.elems (allotted figures)))
        , ("max_bytes_used", live figures)
        , ("GC_elapsed_ns", elapsed figures)
        , ("heap_sizes", sizes figures)
        , ("runs", runs figures)
        ]
